import LinuxIO

/// The serial console that board.json names, or why it is not open.
package struct ConsolePort {
    package private(set) var console: SerialConsole?
    package private(set) var failure: String?

    package init() {}

    /// Opens or closes the console. Does nothing if it is already open.
    /// - Parameter path: `nil` for no console.
    package mutating func open(_ path: String?) {
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
    package mutating func close() { console = nil }
}
