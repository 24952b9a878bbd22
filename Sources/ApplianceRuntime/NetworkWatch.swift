import ApplianceLogic
import CardStorage
import CommandChannels
import LinuxIO
import Media
import Settings
import Transport

/// The network's state for people, and the time of day, which comes over the network. Used from the main thread.
final class NetworkWatch {
    unowned let device: ApplianceDevice
    /// `nil` if the kernel does not tell.
    private let links = try? LinkMonitor()
    private let kernelLog = try? KernelLog()
    private var wireless = WirelessLink()
    private var supplicant: SupplicantMonitor
    let search: WirelessSearchDuty
    private var isClockWaitReported = false

    init(of device: ApplianceDevice) {
        self.device = device
        supplicant = SupplicantMonitor(
            directory: device.settings.supplicantDirectory,
            path: "\(device.settings.networkDirectory)/wifi-messages")
        search = WirelessSearchDuty(device.settings)
    }

    /// Whether the network is reachable, as far as that is known.
    var isUp: Bool { links?.hasDefaultRoute ?? true }
    var address: String? { links?.firstAddress }
    /// The first ones: a link may have very many IPv6 addresses.
    var addresses: [String] { Array((links?.ownAddresses ?? []).prefix(2)) }
    var reading: ApplianceStatus.NetworkReading? {
        links.map { ApplianceStatus.NetworkReading(hasDefaultRoute: $0.hasDefaultRoute, linksUp: $0.linksUp) }
    }

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.links, links?.fileDescriptor ?? -1)
        waits.add(.supplicant, supplicant.fileDescriptor)
        search.join(&waits)
        // Nothing signals that a time server has answered.
        if device.appliance.isWaitingForClock { waits.wake(at: MonotonicClock.now() + .milliseconds(250)) }
    }

    /// Handles what has arrived.
    func serve(_ waits: PollSet<ApplianceWait>) {
        if waits.isReady(.links) { linksChanged() }
        if waits.isReady(.supplicant) { supplicantSaid() }
        search.serve(now: MonotonicClock.now())
    }

    private func linksChanged() {
        guard let links, let happened = try? links.takeEvents() else { return }
        for event in happened { device.tell(text: "network: \(event)") }
        let now = MonotonicClock.now()
        device.perform(device.appliance.networkChanged(isUp: links.hasDefaultRoute, now: now))
        wirelessChecked(now: now)
    }

    // MARK: The clock

    func lookAtClock(now: MediaTimestamp) {
        guard device.appliance.isWaitingForClock else { return }
        if !isClockWaitReported {
            isClockWaitReported = true
            device.tell(.waitingForClock)
        }
        guard !device.settings.isClockAwaited else { return }
        device.tell(.clockSet)
        device.perform(device.appliance.clockSet(now: now))
    }

    /// Call it every few seconds. A new wpa_supplicant has read network.json again, so reports of the old one are dropped.
    func tick() {
        let before = wireless
        for message in kernelLog?.takeMessages() ?? [] { wireless.kernelSaid(message) }
        if supplicant.tick() { wireless.supplicantReplaced() }
        wirelessChanged(from: before)
    }

    private func supplicantSaid() {
        let before = wireless
        for message in supplicant.takeMessages() { wireless.supplicantSaid(message) }
        wirelessChanged(from: before)
    }

    private func wirelessChanged(from before: WirelessLink) {
        guard wireless != before else { return }
        if wireless.isConnected != before.isConnected {
            device.tell(.wireless(isConnected: wireless.isConnected))
        }
        wirelessChecked(now: MonotonicClock.now())
    }

    private func wirelessChecked(now: MediaTimestamp) {
        let faults = wirelessFaults
        device.faultsChanged(now: now) { $0.wirelessChecked(faults) }
    }

    /// Wi-Fi problems and their remedies.
    var wirelessFaults: [FileFault] {
        device.files.faults(of: wireless.problem, isNetworkMissing: device.appliance.faults.contains(.network))
    }
}
