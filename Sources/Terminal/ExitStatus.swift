import LinuxIO
import Media
import StreamLogic

/// The program's exit statuses; `tallycam --help` lists them.
package enum ExitStatus: Int32 {
    case success = 0
    /// `doctor` has found a problem.
    case problem = 1
    /// The command line or a description file is wrong.
    case usage = 2
    /// The server could not be reached, refused, or went away.
    case connection = 3
    /// A camera, microphone, input file or encoder failed.
    case media = 4
    /// The recording could not be written.
    case recording = 5
    /// The system refused something that has no category of its own.
    case system = 6
    /// The running camera was asked for something and refused.
    case refused = 7
}

/// A failure that ends the program: one clear line and an exit status.
package struct CommandFailure: Error {
    package let status: ExitStatus
    /// `nil` if the failure has no code.
    package let code: EventCode?
    package let message: String

    package init(_ status: ExitStatus, code: EventCode? = nil, _ message: String) {
        self.status = status
        self.code = code
        self.message = withoutURLs(of: CommandLine.arguments, message)
    }

    /// The failure as an event.
    package var event: StreamEvent { .failed(code, message: message) }

    package static func usage(_ message: String, code: EventCode? = nil) -> CommandFailure {
        CommandFailure(.usage, code: code, message)
    }

    /// Wraps any error of a command.
    package init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as StreamFailure:
            self.init(ExitStatus(failure.kind), code: failure.code, failure.text)
        default: self.init(.system, "\(error)")
        }
    }
}

extension ExitStatus {
    fileprivate init(_ kind: StreamFailure.Kind) {
        switch kind {
        case .settings: self = .usage
        case .connection: self = .connection
        case .media: self = .media
        case .recording: self = .recording
        case .system: self = .system
        }
    }
}

extension CommandLineError {
    /// - Returns: the end of a sentence that suggests similar options; empty if there are none.
    package func suggestion(among options: [CommandLineOption]) -> String {
        guard case .unknownOption(let typed) = self, typed.hasPrefix("--") else { return "" }
        let name = String(typed.dropFirst(2).prefix { $0 != "=" })
        let names = options.map(\.name)
        var near = names.filter { !name.isEmpty && $0.hasPrefix(name) }
        if near.isEmpty { near = [NameSuggestion.nearest(to: name, among: names)].compactMap { $0 } }
        guard !near.isEmpty else { return "" }
        return "; did you mean \(near.prefix(4).map { "--\($0)" }.joined(separator: " or "))?"
    }
}

/// Removes URLs from a message. Errors quote words of the command line, so a URL in the wrong place would write the
/// stream's key into logs. Only the scheme remains.
package func withoutURLs(of arguments: [String], _ message: String) -> String {
    var bytes = Array(message.utf8)[...]
    for argument in arguments {
        let text = Array(argument.utf8)
        guard let mark = text.indices.first(where: { text[$0...].starts(with: "://".utf8) }) else { continue }
        // Redact options with commas piece by piece.
        for secret in [text[mark...], text[mark...].prefix { $0 != UInt8(ascii: ",") }] where secret.count > 3 {
            bytes = replacing(secret, in: bytes, with: Array("://***".utf8))
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func replacing(
    _ pattern: ArraySlice<UInt8>, in bytes: ArraySlice<UInt8>, with replacement: [UInt8]
) -> ArraySlice<UInt8> {
    var result: ArraySlice<UInt8> = []
    var rest = bytes
    while let byte = rest.first {
        let isFound = rest.starts(with: pattern)
        if isFound { result += replacement } else { result.append(byte) }
        rest = rest.dropFirst(isFound ? pattern.count : 1)
    }
    return result
}
