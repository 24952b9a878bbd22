import ApplianceLogic
import Glibc
import LinuxIO
import Media
import Transport

// The network's state as a person has to know it, and the time of day that comes with the network.
extension ApplianceDevice {
    /// While it exists, a time server is being asked and has not answered yet (S40time).
    static func awaitedClock(_ settings: ApplianceSettings) -> String {
        "\(settings.networkDirectory)/clock-awaited"
    }

    static func isClockAwaited(_ settings: ApplianceSettings) -> Bool { access(awaitedClock(settings), F_OK) == 0 }

    /// When the clock is to be looked at again; `nil` while nobody waits for it.
    var nextLookAtClock: MediaTimestamp? {
        appliance.isWaitingForClock ? MonotonicClock.now() + .milliseconds(250) : nil
    }

    func lookAtClock(now: MediaTimestamp) {
        guard appliance.isWaitingForClock else { return }
        if !isClockWaitReported {
            isClockWaitReported = true
            tell("waiting for the time of day")
        }
        guard !Self.isClockAwaited(settings) else { return }
        tell("the clock is set")
        perform(appliance.clockSet(now: now))
    }

    func linksChanged() {
        guard let links, let happened = try? links.takeEvents() else { return }
        for event in happened { tell("network: \(event)") }
        let now = MonotonicClock.now()
        perform(appliance.networkChanged(isUp: links.hasDefaultRoute, now: now))
        wirelessChecked(now: now)
    }

    /// Each wpa_supplicant has read network.json anew: what another one has said counts no more.
    func lookForSupplicant(now: MediaTimestamp) {
        guard supplicant.tick() else { return }
        let before = wireless
        wireless = WirelessLink()
        wirelessChanged(from: before)
    }

    func supplicantSaid() {
        let before = wireless
        for message in supplicant.takeMessages() { wireless.supplicantSaid(message) }
        wirelessChanged(from: before)
    }

    private func wirelessChanged(from before: WirelessLink) {
        guard wireless != before else { return }
        if wireless.isConnected != before.isConnected {
            tell("network: Wi-Fi \(wireless.isConnected ? "connected" : "disconnected")")
        }
        wirelessChecked(now: MonotonicClock.now())
    }

    private func wirelessChecked(now: MediaTimestamp) {
        let faults = wirelessFaults
        faultsChanged(now: now) { $0.wirelessChecked(faults) }
    }

    /// What is wrong with the Wi-Fi and what to do. That no network is in reach does not matter beside a cable.
    var wirelessFaults: [FileFault] {
        switch wireless.problem {
        case .wrongPassword(let network):
            let entry = files.network.wifi.first { $0.ssid == network }?.keyPath
            return [
                files.fault(
                    .settings, "network.json", entry.map { "\($0).password" } ?? "wifi",
                    "the Wi-Fi \"\(network)\" does not take the password")
            ]
        case .notInReach where appliance.faults.contains(.network):
            let entry = files.network.wifi.first?.keyPath
            return [
                files.fault(
                    .network, "network.json", entry.map { "\($0).ssid" } ?? "wifi",
                    "none of its Wi-Fi networks is in reach; look at \"ssid\", and at \"hidden\" and \"country\"")
            ]
        case .notInReach, nil: return []
        }
    }
}
