/// The program's exit statuses; `tallycam --help` lists them.
enum ExitStatus: Int32 {
    case success = 0
    /// The command line or a description file is wrong.
    case usage = 2
    /// The server could not be reached, refused, or went away.
    case connection = 3
    /// A camera, microphone, input file or encoder failed.
    case media = 4
    /// The recording could not be written.
    case recording = 5
    /// The system refused something that has no class of its own.
    case system = 6
}

/// A failure that ends the program: one clear line and a status.
struct CommandFailure: Error {
    let status: ExitStatus
    /// The number in the list of event and error codes; 0 when it has none.
    let code: Int
    let message: String
    /// Nothing that worked before works any more: only the machine's restart is left.
    let needsMachineRestart: Bool

    init(_ status: ExitStatus, code: Int = 0, needsMachineRestart: Bool = false, _ message: String) {
        self.needsMachineRestart = needsMachineRestart
        self.status = status
        self.code = code
        self.message = message
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }
}
