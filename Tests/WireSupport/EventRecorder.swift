import StreamLogic
import Synchronization

/// Records the reports of a stream or receiver, as scripts and people would read them.
public final class EventRecorder: Sendable {
    private struct Content: Sendable {
        var events: [any Event] = []
        /// The target that each of them concerns.
        var targets: [TargetID?] = []
        var notes: [String] = []
        var snapshots: [StreamSnapshot] = []
        var answers: [CommandID: CommandOutcome] = [:]
        var leaders: [TargetID] = []
    }

    private let content = Mutex(Content())

    public init() {}

    public var sink: EventSink {
        EventSink { [self] message in
            content.withLock { content in
                switch message {
                case .event(let event, of: let target):
                    content.events.append(event)
                    content.targets.append(target)
                case .leads(let target): content.leaders.append(target)
                case .note(let text): content.notes.append(text)
                case .snapshot(let snapshot): if let snapshot { content.snapshots.append(snapshot) }
                case .answer(let id, let outcome): content.answers[id] = outcome
                case .log, .brightness: break
                }
            }
        }
    }

    public func record(_ event: any Event) {
        content.withLock { content in
            content.events.append(event)
            content.targets.append(nil)
        }
    }

    /// The events of this name.
    public func events(_ name: String) -> [any Event] { content.withLock { $0.events.filter { $0.name == name } } }

    /// The targets that the events of this name concern.
    public func targets(of name: String) -> [TargetID?] {
        content.withLock { content in
            zip(content.events, content.targets).filter { $0.0.name == name }.map { $0.1 }
        }
    }

    public var streamEvents: [StreamEvent] { content.withLock { $0.events.compactMap { $0 as? StreamEvent } } }
    public var codes: [Int] { content.withLock { $0.events.map { $0.code?.rawValue ?? 0 } } }
    public var names: [String] { content.withLock { $0.events.map { $0.name } } }
    /// The targets that led after the first one, in order.
    public var leaders: [TargetID] { content.withLock { $0.leaders } }
    public var notes: [String] { content.withLock { $0.notes } }
    public var answers: [CommandID: CommandOutcome] { content.withLock { $0.answers } }
    public var snapshots: [StreamSnapshot] { content.withLock { $0.snapshots } }
    public func texts(of name: String) -> [String] { events(name).map { $0.text ?? "" } }
    public func count(_ code: EventCode) -> Int { codes.count { $0 == code.rawValue } }
    /// The reported states, in order.
    public var states: [StreamState] {
        streamEvents.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    /// A field of the newest event of this name, as text.
    public func field(_ field: String, of name: String) -> String? {
        switch events(name).last?.fields.first(where: { $0.name == field })?.value {
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .text(let text): text
        case .flag(let flag): "\(flag)"
        case .texts(let texts): texts.joined(separator: ",")
        case .numbers(let values): values.map { $0.map { "\($0)" } ?? "-" }.joined(separator: ",")
        case nil: nil
        }
    }
}
