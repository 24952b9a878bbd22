import Glibc
import LinuxIO
import Media

/// Why a display cannot be used, or can no longer be used.
public enum DisplayError: Error, Hashable, Sendable {
    /// - Parameter path: of the card.
    case failed(path: String, SystemCallError)
    /// The machine has no card with display outputs.
    case noCard
    /// - Parameter present: the existing connectors.
    case noConnector(String, present: [String])
    /// - Parameter connectors: the existing connectors.
    case nothingConnected([String])
    /// Another program uses the display.
    case inUse(path: String)
    /// None of the display's modes or of the planes works.
    case unusable(connector: String, reason: String)
    /// The display was unplugged.
    case unplugged(connector: String)
    /// The driver does not confirm that it has shown something.
    case silent(connector: String, Duration)
    /// This frame cannot be shown, but the next one might.
    case frameUnreadable(reason: String)
    /// The card lacks a property that is required.
    case lacksProperty(path: String, name: String)
}

extension DisplayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let path, let error): "\(path): \(error)"
        case .noCard: "the machine has no card for displays (/dev/dri/card*)"
        case .noConnector(let name, let present):
            "there is no connector \(name)" + (present.isEmpty ? "" : "; there are \(present.joined(separator: ", "))")
        case .nothingConnected(let connectors):
            "no display is connected" + (connectors.isEmpty ? "" : " (\(connectors.joined(separator: ", ")))")
        case .inUse(let path): "\(path): in use by another program"
        case .unusable(let connector, let reason): "\(connector): \(reason)"
        case .unplugged(let connector): "\(connector): the display was unplugged"
        case .silent(let connector, let duration):
            "\(connector): the driver has not shown anything for \(fixed(duration.inSeconds, decimals: 1)) s"
        case .frameUnreadable(let reason): "a frame cannot be shown: \(reason)"
        case .lacksProperty(let path, let name): "\(path): the driver has no property \(name)"
        }
    }
}

extension DisplayError {
    /// Conditions that a person can change any time, by plugging a cable or ending a program. They are checked often, which
    /// costs little.
    var mayPassSoon: Bool {
        switch self {
        case .noCard, .noConnector, .nothingConnected, .inUse, .unplugged: true
        case .failed(_, let call): call.number == ENODEV
        case .unusable, .silent, .frameUnreadable, .lacksProperty: false
        }
    }
}
