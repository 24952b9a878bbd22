import Controls
import Filters
import Media
import StreamQuality

/// Why a stream does not do what was asked of it. Nothing has changed, and the stream continues.
public enum CommandRefusal: Error, Hashable, Sendable {
    // The line.
    case command(CommandError)
    case changes(ChangeError)
    case filter(FilterError)
    case unknownCamera(String, available: [String])
    case transactionIsOpen
    /// - Parameter name: the command that needs an open transaction.
    case noTransaction(for: CommandName)
    /// A snapshot for standard output, which belongs to the events.
    case snapshotToOutput

    // The stream.
    case notStarted
    case noVideo
    case singleCamera
    /// The audio comes from a file or pipe.
    case fixedSampleRate
    case quality(QualityError)
    case filtersWaiting(limit: Int)
    /// A filter's files cannot be used.
    case filterFiles(reason: String)
    case system(reason: String)

    // The camera.
    /// - Parameter othersChanged: whether the other changes of the line were made.
    case control(ControlError, othersChanged: Bool)
    /// It has not answered the commands before this one.
    case cameraIsBusy
    /// Another camera was requested before the switch was done.
    case superseded
    case cameraUnavailable(String, reason: String, keeping: String)

    // The encoder.
    case sizeKept(FrameSize, reason: String)
    case encoderSettingKept(reason: String)
    case profileKept(reason: String)
}

extension CommandRefusal {
    /// For programs; it never changes.
    public var name: String {
        switch self {
        case .command(.unknown): "unknownCommand"
        case .command(.unavailable): "unavailableCommand"
        case .command(.usage): "wrongUsage"
        case .changes: "wrongChange"
        case .filter: "wrongFilter"
        case .unknownCamera: "unknownCamera"
        case .transactionIsOpen: "transactionIsOpen"
        case .noTransaction: "noTransaction"
        case .snapshotToOutput: "snapshotToOutput"
        case .notStarted: "notStarted"
        case .noVideo: "noVideo"
        case .singleCamera: "singleCamera"
        case .fixedSampleRate: "fixedSampleRate"
        case .quality: "impossibleQuality"
        case .filtersWaiting: "filtersWaiting"
        case .filterFiles: "filterFiles"
        case .system: "system"
        case .control: "control"
        case .cameraIsBusy: "cameraIsBusy"
        case .superseded: "superseded"
        case .cameraUnavailable: "cameraUnavailable"
        case .sizeKept: "sizeKept"
        case .encoderSettingKept: "encoderSettingKept"
        case .profileKept: "profileKept"
        }
    }
}

extension CommandRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .command(let error): error.description
        case .changes(let error): error.description
        case .filter(let error): error.description
        case .unknownCamera(let name, let names):
            "unknown camera \(quoted(name.prefix(60)))\(NameSuggestion.question(for: name, among: names) ?? ";")"
                + " available: \(names.joined(separator: ", "))"
        case .transactionIsOpen: "a transaction is already open; use commit or cancel"
        case .noTransaction(let command): "nothing to \(command.rawValue); begin opens a transaction"
        case .snapshotToOutput: "snapshot needs a file here: tallycam snapshot --output - writes to standard output"
        case .notStarted: "the stream has not started"
        case .noVideo: "the stream has no video"
        case .singleCamera: "this stream has only one camera; add more with --camera or cameras in device.json"
        case .fixedSampleRate: "the file or pipe that the audio comes from determines the sample rate"
        case .quality(let error): error.description
        case .filtersWaiting(let limit): "\(limit) changes of filters already wait for files to be read"
        case .filterFiles(let reason), .system(let reason): reason
        case .control(let error, let othersChanged):
            othersChanged ? "\(error); everything else is changed" : error.description
        case .cameraIsBusy: "the camera has not answered the commands before this one"
        case .superseded: "another camera was requested meanwhile"
        case .cameraUnavailable(let name, let reason, let present):
            "could not switch to \(name); staying on \(present): \(reason)"
        case .sizeKept(let size, let reason): "frames stay at \(size): \(reason)"
        case .encoderSettingKept(let reason): "the encoder keeps its setting: \(reason)"
        case .profileKept(let reason): "\(reason); the stream keeps its profile"
        }
    }
}

// The parts of a line, each with its own error as a refusal.

extension TypedCommand {
    /// - Throws: also for an empty line.
    public static func of(_ line: String, on surface: CommandSurface) throws(CommandRefusal) -> TypedCommand {
        do throws(CommandError) {
            guard let command = try TypedCommand(line, on: surface) else { throw .unknown("", on: surface) }
            return command
        } catch {
            throw .command(error)
        }
    }
}

extension RequestedChanges {
    public static func of(_ words: [String]) throws(CommandRefusal) -> RequestedChanges {
        do throws(ChangeError) {
            return try RequestedChanges(parsing: words)
        } catch {
            throw .changes(error)
        }
    }
}

extension FilterChange {
    public static func of(_ text: String) throws(CommandRefusal) -> FilterChange {
        do throws(FilterError) {
            return try FilterChange(parsing: text)
        } catch {
            throw .filter(error)
        }
    }
}
