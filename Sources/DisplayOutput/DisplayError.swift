import Glibc
import LinuxIO
import Media

/// Why a display cannot be used, or not any more.
public enum DisplayError: Error, Hashable, Sendable {
    /// - Parameter path: of the card.
    case failed(path: String, SystemCallError)
    /// The machine has no card that displays could be at.
    case noCard
    /// - Parameter present: those that there are.
    case noConnector(String, present: [String])
    /// - Parameter connectors: those that there are.
    case nothingConnected([String])
    /// Another program shows something there.
    case inUse(path: String)
    /// The display's modes, or the planes for what is shown, do not work.
    case unusable(connector: String, reason: String)
    /// The display was unplugged.
    case unplugged(connector: String)
    /// The driver does not say that it has shown something.
    case silent(connector: String, Duration)
    /// This frame cannot be shown; the next one may be.
    case frameUnreadable(reason: String)
    /// The card would have to be asked for more than it says it has.
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
        case .inUse(let path): "\(path): another program shows something there"
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
    /// What a person can change at any moment, with a cable or by ending a program: it is looked at often, as that costs little.
    var mayPassSoon: Bool {
        switch self {
        case .noCard, .noConnector, .nothingConnected, .inUse, .unplugged: true
        case .failed(_, let call): call.number == ENODEV
        case .unusable, .silent, .frameUnreadable, .lacksProperty: false
        }
    }
}
