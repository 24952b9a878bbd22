import ApplianceLogic
import Filters
import Settings
import StreamLogic

/// A command to the device from any source.
package enum ApplianceCommand {
    /// - Parameter 0: the form of the answer; `nil` for the asker's own.
    case status(ReaderForm?)
    case start
    case stop
    /// Admits a waiting computer, or else starts or stops the stream.
    case press
    case settings
    case quality
    case change(RequestedChanges)
    case filter(FilterChange)
    /// - Parameter 0: see `status`.
    case controls(ReaderForm?)
    /// - Parameter quality: `nil` for the one in device.json.
    case snapshot(SnapshotPurpose, quality: Int?)
    case record(RecordOrder)
    /// - Parameter 0: `nil` asks whether it is lit.
    case torch(DeviceDescription.Torch?)
    case toggleTorch
    case camera(CameraChoice)
    case target(String, isOn: Bool)
    /// - Parameter 1: see `status`.
    case list(DeviceList.Kind, ReaderForm?)
    case pause(Bool)
    case togglePause
    case toggleMute
    case webcam(WebcamOrder)
    case page(PageAdmission)
    /// Searches for networks.
    case wifi(ReaderForm?)
    case faults
    /// - Parameter 0: see `status`.
    case doctor(ReaderForm?)
    case events(count: Int)
    case followEvents(ReaderForm, count: Int)
    case powerOff(Appliance.PowerOff)
    case help
}

package enum RecordOrder {
    case start
    case stop
    /// Whichever of the two is another state than the present one.
    case toggle
    case eject
    case mark(String)
}

package enum WebcamOrder: String {
    case start
    case stop
    /// Admits the program that is waiting.
    case allow
}

package enum PageAdmission {
    /// Admits the browser that waits, as a press does.
    /// - Parameter code: of the one that is meant; `nil` if only one waits.
    case allow(code: Int?)
    /// No browser is paired any more.
    case forget
}

extension ApplianceCommand {
    /// The requested form of the answer; `nil` for the asker's own.
    package var form: ReaderForm? {
        switch self {
        case .status(let form), .controls(let form), .list(_, let form), .doctor(let form), .wifi(let form): form
        default: nil
        }
    }

    /// - Throws: if the line is not a command.
    package init(_ line: String, on surface: CommandSurface) throws(CommandRefusal) {
        let typed = try TypedCommand.of(line, on: surface)
        let words = typed.arguments
        let first = words.first?.lowercased()
        switch typed.name {
        case .status: self = .status(words.isEmpty ? nil : .json)
        case .start: self = .start
        case .stop: self = .stop
        case .settings: self = .settings
        case .quality where words.isEmpty: self = .quality
        case .quality, .mute: self = .change(try .of([typed.name.rawValue] + words))
        case .set: self = .change(try .of(words))
        case .filter: self = .filter(try .of(typed.text))
        case .controls: self = .controls(words.isEmpty ? nil : .json)
        case .snapshot:
            let isSent = first == "send"
            let quality = words.dropFirst(isSent ? 1 : 0).first.flatMap { Int($0) }
            self = .snapshot(isSent ? .send : .keep, quality: quality)
        case .record: self = .record(Self.record(words))
        case .torch: self = .torch(first.flatMap(DeviceDescription.Torch.init(rawValue:)))
        case .camera: self = .camera(CameraChoice(words.first ?? ""))
        case .target: self = .target(words[0], isOn: words[1].lowercased() == "on")
        case .cameras: self = .list(.cameras, words.isEmpty ? nil : .json)
        case .microphones: self = .list(.microphones, words.isEmpty ? nil : .json)
        case .doctor: self = .doctor(words.isEmpty ? nil : .json)
        case .pause: self = .pause(first == "on")
        case .webcam: self = .webcam(first.flatMap(WebcamOrder.init(rawValue:)) ?? .allow)
        case .wifi: self = .wifi(words.count < 2 ? nil : .json)
        case .page:
            self = .page(first == "forget" ? .forget : .allow(code: words.dropFirst().first.flatMap { Int($0) }))
        case .faults: self = .faults
        case .events: self = Self.events(words)
        case .reboot: self = .powerOff(.reboot)
        case .powerOff: self = .powerOff(.halt)
        case .help: self = .help
        // The table of commands does not offer these to an appliance.
        case .openTransaction, .commit, .cancel: throw .command(.unavailable(typed.name))
        }
    }

    /// - Parameter words: as the table of commands defines them.
    private static func events(_ words: [String]) -> ApplianceCommand {
        guard words.first?.lowercased() == "follow" else { return .events(count: count(words.first)) }
        guard words.dropFirst().first?.lowercased() != "json" else { return .followEvents(.json, count: 0) }
        return .followEvents(.text, count: count(words.dropFirst().first))
    }

    /// - Parameter words: as the table of commands defines them.
    private static func record(_ words: [String]) -> RecordOrder {
        switch words.first?.lowercased() {
        case "start": .start
        case "stop": .stop
        case "eject": .eject
        default: .mark(words.dropFirst().joined(separator: " "))
        }
    }

    private static func count(_ word: String?) -> Int { word.flatMap { Int($0) } ?? 20 }
}
