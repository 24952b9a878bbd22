import Filters
import Media
import StreamLogic
import StreamQuality

/// Handles commands for a live stream line by line. Changes between `begin` and `commit` form one transaction.
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
        /// Lines for the person who typed the command.
        case answer([String])
        /// Why the command is refused without asking the stream.
        case refuse(CommandRefusal)
        /// A command for the stream.
        case command(PublisherCommand)
        /// A question for the stream, with the form of the answer.
        case ask(StreamQuestion, AnswerForm)
    }

    /// Changes waiting for `commit`; `nil` outside a transaction.
    private var noted: RequestedChanges?

    public init() {}

    /// - Returns: what to do, in order; nothing for an empty line.
    public mutating func lineReceived(_ line: String) -> [Action] {
        do throws(CommandError) {
            guard let command = try TypedCommand(line, on: .publish) else { return [] }
            return actions(for: command)
        } catch {
            return [.refuse(.command(error))]
        }
    }

    private mutating func actions(for command: TypedCommand) -> [Action] {
        let words = command.arguments
        let form: AnswerForm = words.first == nil ? .text : .json
        switch command.name {
        case .status: return [.ask(.status, form)]
        case .controls: return [.ask(.controls, form)]
        case .settings: return (noted.map { [Self.answer($0)] } ?? []) + [.ask(.settings, .text)]
        case .quality: return [words.isEmpty ? .ask(.status, .quality) : set(["quality"] + words)]
        case .set: return [set(words)]
        case .mute: return [set(["mute"] + words)]
        case .openTransaction: return [open()]
        case .commit: return [commit()]
        case .cancel: return [cancel()]
        case .target: return [.command(.switchTarget(words[0], isOn: words[1].lowercased() == "on"))]
        case .camera: return [.command(.switchCamera(CameraChoice(words.first ?? "")))]
        case .pause: return [.command(.pause(words.first?.lowercased() == "on"))]
        case .filter: return [filter(command.text)]
        case .snapshot: return [snapshot(words.first ?? "", quality: words.dropFirst().first.flatMap { Int($0) })]
        case .stop: return [.command(.stop)]
        case .help: return [.answer(CommandDescription.help(on: .publish))]
        // The table does not offer these in publish.
        case .start, .cameras, .microphones, .record, .torch, .webcam, .wifi, .page, .faults, .doctor, .events, .reboot,
            .powerOff:
            return [.refuse(.command(.unavailable(command.name)))]
        }
    }

    private mutating func set(_ words: [String]) -> Action {
        do throws(CommandRefusal) {
            let changes = try RequestedChanges.of(words)
            guard let noted else { return .command(.apply(changes)) }
            self.noted = noted + changes
            return Self.answer(changes)
        } catch {
            return .refuse(error)
        }
    }

    private func filter(_ text: String) -> Action {
        do throws(CommandRefusal) {
            return .command(.filter(try .of(text)))
        } catch {
            return .refuse(error)
        }
    }

    private static func answer(_ noted: RequestedChanges) -> Action {
        .answer(noted.descriptions.map { "noted: \($0)" })
    }

    private func snapshot(_ path: String, quality: Int?) -> Action {
        guard path != "-" else { return .refuse(.snapshotToOutput) }
        let quality = quality ?? SnapshotRequest.usualQuality
        return .command(.takeSnapshot(SnapshotRequest(CommandID(0), quality: quality, path: path)))
    }

    private mutating func open() -> Action {
        guard noted == nil else { return .refuse(.transactionIsOpen) }
        noted = RequestedChanges()
        return .answer(["transaction open: further changes wait for commit"])
    }

    private mutating func commit() -> Action {
        guard let noted else { return .refuse(.noTransaction(for: .commit)) }
        self.noted = nil
        return .command(.apply(noted))
    }

    private mutating func cancel() -> Action {
        guard let noted else { return .refuse(.noTransaction(for: .cancel)) }
        self.noted = nil
        return .answer([noted.count == 1 ? "1 change discarded" : "\(noted.count) changes discarded"])
    }
}
