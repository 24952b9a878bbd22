import LinuxIO

/// The serial console that board.json names, or why it is not open.
struct ConsolePort {
    private(set) var console: SerialConsole?
    private(set) var failure: String?

    /// Opens or closes the console. Does nothing if it is already open.
    /// - Parameter path: `nil` for no console.
    mutating func open(_ path: String?) {
        if path == nil { failure = nil }
        guard path != console?.path else { return }
        do {
            console = try path.map { path throws(SystemCallError) in try SerialConsole(path: path) }
            failure = nil
        } catch {
            console = nil
            failure = "must be a terminal: \(error)"
        }
    }

    /// The line is gone.
    mutating func close() { console = nil }
}
