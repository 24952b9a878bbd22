import Controls
import Filters
import Media
import StreamLogic
import StreamQuality

/// Reads commands for a live stream line by line, several changes of it as one transaction between `begin` and `commit`.
///
/// ```
///              set: changes at once
///            ┌────┐
///            ▼    │   begin    ┌──────┐ set: noted
///  ───────▶ idle ─┴──────────▶ open ──┴─┐
///            ▲                  │  ▲────┘
///            └──────────────────┘
///       commit: all changes at once; cancel: none
/// ```
public struct ConfigurationTransaction: Sendable {
    public enum Action: Hashable, Sendable {
        /// Lines for the one who asked.
        case answer([String])
        /// Why the stream is not asked for anything.
        case refuse(String)
        /// For the stream.
        case command(PublisherCommand)
    }

    /// Changes that wait for `commit`; `nil` outside a transaction.
    private var noted: RequestedChanges?

    public init() {}

    public static let help = [
        "set NAME VALUE [NAME VALUE...]   change settings and controls, all of them at one frame",
        "begin                            note what is set from here on, and change nothing yet",
        "commit                           change what was noted, all of it at one keyframe",
        "cancel                           forget what was noted",
        "show                             the settings and the camera's controls, with their values",
        "filter NAME KEY=VALUE [KEY=VALUE...]|off  change what frames pass, or take a filter away",
        "snapshot FILE [QUALITY]          write a frame as a JPEG; quality 1 to 100 (90)",
        "camera NAME|next                 let another of the stream's cameras be on",
        "pause on|off                     send a still frame and silence, or go on",
        "stop                             end the stream",
        "help                             this list",
        "Settings: quality NAME, audio-quality NAME, bitrate MIN,START,MAX (or SD, HD, FHD), fps N,",
        "dimension WxH|NAME (with adapt restart), adapt nothing|seamless|restart,",
        "resize never|seamless|restart, keep-audio-quality on|off, mute on|off.",
        "quality brings its own bit rates; set bitrate after it.",
        "The camera's controls are set in the same way:",
        "\(controls.prefix(9).joined(separator: ", ")),",
        "\(controls.dropFirst(9).joined(separator: ", ")).",
    ]

    private static var controls: [String] { ControlName.allCases.map(\.rawValue) }

    /// - Returns: what to do, in this order; nothing for an empty line.
    public mutating func lineReceived(_ line: String) -> [Action] {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
        guard let command = words.first else { return [] }
        switch (command.lowercased(), words.count) {
        case ("set", let count) where count >= 3 && count % 2 == 1: return [set(words.dropFirst())]
        case ("set", _): return [.refuse("set takes names with values, as in: set quality Medium2 fps 15")]
        case ("begin", 1): return [begin()]
        case ("commit", 1): return [commit()]
        case ("cancel", 1): return [cancel()]
        case ("camera", 2): return [.command(.switchCamera(CameraChoice(words[1])))]
        case ("camera", _): return [.refuse("camera takes a name or next; show has the names")]
        case ("filter", _): return [filter(line)]
        case ("show", 1): return (noted.map { [Self.answer($0)] } ?? []) + [.command(.showConfiguration)]
        case ("snapshot", 2...3): return [snapshot(words[1], quality: words.dropFirst(2).first)]
        case ("snapshot", _): return [.refuse("snapshot takes a file, as in: snapshot frame.jpg")]
        case ("pause", _): return [Self.pause(words.dropFirst())]
        case ("torch", _): return [.refuse("the torch belongs to a board: tallycam run has it, by board.json")]
        case ("stop", 1): return [.command(.stop)]
        case ("help", 1): return [.answer(Self.help)]
        default: return [.refuse(Self.problem(with: command, of: line))]
        }
    }

    private static let commands = [
        "set", "begin", "commit", "cancel", "show", "filter", "snapshot", "camera", "pause", "stop", "help",
    ]

    private static func problem(with command: String, of line: String) -> String {
        if commands.contains(command.lowercased()) { return "\(command.lowercased()) takes no arguments" }
        let meant = NameSuggestion.question(for: command, among: commands) ?? ";"
        return "there is no command \(quoted(line.prefix(60)))\(meant) help lists them"
    }

    private mutating func set(_ words: ArraySlice<String>) -> Action {
        do throws(ChangeError) {
            let changes = try RequestedChanges(parsing: words)
            guard let noted else { return .command(.apply(changes)) }
            self.noted = noted + changes
            return Self.answer(changes)
        } catch {
            return .refuse(error.description)
        }
    }

    private func filter(_ line: String) -> Action {
        do throws(FilterError) {
            return .command(.filter(try FilterChange(command: line)))
        } catch {
            return .refuse("\(error)")
        }
    }

    private static func pause(_ words: ArraySlice<String>) -> Action {
        switch words {
        case ["on"]: .command(.pause(true))
        case ["off"]: .command(.pause(false))
        default: .refuse("pause takes on or off")
        }
    }

    private static func answer(_ noted: RequestedChanges) -> Action {
        .answer(noted.descriptions.map { "noted: \($0)" })
    }

    private func snapshot(_ path: String, quality: String?) -> Action {
        let number = quality.map { Int($0) ?? 0 } ?? SnapshotRequest.usualQuality
        guard SnapshotRequest.qualities.contains(number) else {
            return .refuse(
                "a snapshot's quality is a whole number from 1 to 100, not \(quoted((quality ?? "").prefix(60)))")
        }
        guard path != "-" else {
            return .refuse("snapshot takes a file here: tallycam snapshot --output - writes it out")
        }
        return .command(.takeSnapshot(SnapshotRequest(CommandID(0), quality: number, path: path)))
    }

    private mutating func begin() -> Action {
        guard noted == nil else { return .refuse("a transaction is open already; commit or cancel ends it") }
        noted = RequestedChanges()
        return .answer(["what is set from here on waits for commit"])
    }

    private mutating func commit() -> Action {
        guard let noted else { return .refuse("there is nothing to commit; begin opens a transaction") }
        self.noted = nil
        return .command(.apply(noted))
    }

    private mutating func cancel() -> Action {
        guard let noted else { return .refuse("there is nothing to cancel; begin opens a transaction") }
        self.noted = nil
        return .answer(["\(noted.count) changes are forgotten"])
    }
}
