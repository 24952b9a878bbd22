import ApplianceLogic
import CardStorage
import DevicePorts
import LinuxIO
import Settings
import StreamLogic

// Which cameras and microphones there are. Drivers answer that, and may hang.
extension StreamRunner {
    /// Lists devices on a thread of their own. The answer is an `EngineEvent`.
    /// - Returns: whether it was started. If not, an earlier one still waits for a driver.
    package func list(_ kind: DeviceList.Kind, for id: CommandID) throws(SystemCallError) -> Bool {
        guard !listing.contains(kind) else { return false }
        let (engine, reports) = (engine, reports)
        _ = try NamedThread("list-devices", mayBlock: true) { reports.send(.listed(id, kind, engine.list(kind))) }
        listing.insert(kind)
        return true
    }

    /// The thread has reported its result.
    package func listed(_ kind: DeviceList.Kind) { listing.remove(kind) }

    /// Drivers may take this long to tell which devices there are.
    static let listingTimeout = Duration.seconds(5)

    /// Empty if a driver does not answer in time.
    static func devices(insteadOf fault: ApplianceFault, _ engine: any StreamEngine) -> [String] {
        let devices = try? NodeOccupancy.call(of: "the list of devices", timeout: listingTimeout) {
            engine.devices(insteadOf: fault)
        }
        return devices ?? []
    }
}

extension DeviceList {
    /// The cameras that device.json names, without asking a driver: one of them is open.
    package init(open summary: StreamSummary, of device: DeviceDescription) {
        let named = device.cameras.map { (name: $0.name, source: $0.source) }
        let all = named.isEmpty ? [(name: "", source: device.camera)] : named
        let current = summary.camera ?? all[0].name
        let devices = all.map { name, wanted in
            let isOpen = name == current
            let label = [name, isOpen ? summary.cameraSource ?? "" : ""].filter { !$0.isEmpty }.joined(separator: ": ")
            return ListedDevice(wanted, label: label, isInUse: isOpen)
        }
        self.init(devices, notes: ["others are listed when no camera is in use"])
    }

    /// The same list, with the microphones marked that a stream has open.
    /// - Parameter wanted: the names in the files; empty for the first one.
    package func marked(inUse wanted: [String]) -> DeviceList {
        let names = wanted.compactMap(MicrophoneName.normalized)
        var marked = self
        marked.devices = devices.enumerated().map { index, device in
            let isInUse = wanted.isEmpty ? index == 0 : names.contains(where: device.isCalled)
            return ListedDevice(device.name, label: device.label, aliases: device.aliases, isInUse: isInUse)
        }
        return marked
    }
}

extension DescriptionFiles {
    /// The names of the microphones that a stream opens; empty for the first one, `nil` for none.
    package var wantedMicrophones: [String]? {
        switch device.audioSource {
        case .none, .silence: nil
        case .auto, .microphone:
            if device.microphones.isEmpty {
                [board?.microphone].compactMap { $0 }.filter { !$0.isEmpty }
            } else {
                device.microphones.prefix(DeviceDescription.largestMicrophoneCount).map(\.device)
            }
        }
    }
}
