import LinuxIO

/// A line or light of the board that cannot be used, and why.
public enum BoardIOError: Error, Hashable, Sendable {
    /// No chip has a line of this name.
    case noSuchLine(name: String, chip: String?)
    /// The kernel's LED class has no LED of this name.
    case noSuchLED(name: String)
    /// No camera part has this name.
    case noSuchSubdevice(name: String)
    /// Another program or a driver uses it.
    case busy(name: String)
    case failed(SystemCallError)
}

extension BoardIOError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchLine(let name, let chip):
            "there is no GPIO line \"\(name)\"\(chip.map { " on \($0)" } ?? ""); check board.json"
        case .noSuchLED(let name): "there is no LED \"\(name)\" below /sys/class/leds; check board.json"
        case .noSuchSubdevice(let name): "no driver of a flash is named \"\(name)\"; check board.json"
        case .busy(let name):
            "the GPIO line \"\(name)\" is in use by another program; free it, or set another line in board.json"
        case .failed(let error): "\(error)"
        }
    }
}
