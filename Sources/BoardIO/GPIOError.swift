import LinuxIO

/// A GPIO line that cannot be used: which, and why.
public enum GPIOError: Error, Hashable, Sendable {
    /// No chip has a line of this name.
    case noSuchLine(name: String, chip: String?)
    /// Another program or a driver has it.
    case busy(name: String)
    case failed(SystemCallError)
}

extension GPIOError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchLine(let name, let chip):
            "there is no GPIO line \"\(name)\"\(chip.map { " on \($0)" } ?? ""); look into board.json"
        case .busy(let name):
            "the GPIO line \"\(name)\" is in use by something else; free it, or give another one in board.json"
        case .failed(let error): "\(error)"
        }
    }
}
