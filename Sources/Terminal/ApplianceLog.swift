import Glibc
import LinuxIO
import StreamLogic

/// The appliance's events on standard output, for the caller of the program. Never waits for the reader.
public struct ApplianceLog: Sendable {
    private let console: Console
    package let writesJSON: Bool
    private let writesLines: Bool

    /// - Parameters:
    ///   - style: of standard output. With JSON, text for people goes to standard error.
    ///   - isAskedFor: write text even without a terminal.
    ///   - isUnattended: do not write to a terminal. Under init it is the serial line, which has its own console.
    /// - Returns: `nil` if there is no reader.
    public init?(_ style: Console.EventStyle, isAskedFor: Bool, isUnattended: Bool) throws(SystemCallError) {
        writesJSON = style == .json
        let output = style == .json ? STDERR_FILENO : STDOUT_FILENO
        writesLines = isAskedFor || !isUnattended && isTerminal(output)
        guard writesJSON || writesLines else { return nil }
        console = try Console(eventStyle: style)
    }

    /// - Parameter line: with its time; `nil` for events that only programs read.
    package func write(json: [UInt8], line: String?) { console.write(json: json, line: writesLines ? line : nil) }

    /// The program ends with this failure.
    public func failed(_ event: StreamEvent) { console.emit(event) }

    /// To be called last.
    public func finish() { console.finish() }
}
