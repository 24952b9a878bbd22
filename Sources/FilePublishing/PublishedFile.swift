import LinuxIO
import StreamLogic
import Terminal

/// An encoded file that is published as it is: the options of `tallycam publish` about it.
public struct PublishedFile: Sendable {
    public enum Format: String, CaseIterable, Sendable {
        case flv
        case mp4

        fileprivate var option: String { "from-\(rawValue)" }
    }

    public let path: String
    public let format: Format

    public init(path: String, _ format: Format) {
        self.path = path
        self.format = format
    }

    func open() throws(StreamFailure) -> any TagInput {
        switch format {
        case .flv: try FLVInput(path)
        case .mp4: try MP4Input(path)
        }
    }
}

// The command line.
extension PublishedFile {
    package static let options = [
        CommandLineOption("from-flv", takes: "FILE", help: "publish an encoded file without encoding it again"),
        CommandLineOption(
            "from-mp4", takes: "FILE", help: "the same for an MP4 file with H.264 and AAC, such as a recording"),
    ]

    /// - Returns: `nil` if no file is given.
    package init?(_ arguments: CommandLineArguments) throws(CommandFailure) {
        let given = Format.allCases.filter { arguments.contains($0.option) }
        guard given.count < 2 else { throw .usage("--from-flv and --from-mp4 cannot be combined: publish one file") }
        guard let format = given.first, let path = arguments[format.option] else { return nil }
        self.init(path: path, format)
    }

    /// The option's name.
    package var option: String { "--\(format.option)" }

    /// Refuses options about media that is still to be encoded, and about further connections.
    /// - Parameter others: the names of these options.
    package func check(_ arguments: CommandLineArguments, without others: [String]) throws(CommandFailure) {
        if let extra = others.first(where: arguments.contains) {
            throw .usage("--\(extra) cannot be combined with \(option): the file is already encoded")
        }
        guard !arguments.contains("reconnect") else {
            throw .usage("--reconnect cannot be combined with \(option): a file is sent over one connection")
        }
    }
}
