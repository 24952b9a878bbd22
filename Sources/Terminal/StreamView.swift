import Media
import StreamLogic
import Synchronization

/// Shows a stream's messages on the console, with the live view below. Used by the stream's thread and by the one that
/// reads the keyboard.
public final class StreamView: Sendable {
    /// Averaging time of the view's rates.
    private static let window = Duration.seconds(2)

    private struct State {
        /// The snapshots within the window; the last one is shown.
        var recent: [StreamSnapshot] = []
        /// The line being typed; `nil` if the terminal echoes it itself.
        var prompt: String?
        /// The form of the answers that a person waits for.
        var awaited: [CommandID: AnswerForm] = [:]
        var outage = OutageLines()
    }

    /// If a stream answers no questions, the oldest one is forgotten beyond this number.
    private static let mostAwaited = 64

    private let console: Console
    private let state = Mutex(State())

    public init(_ console: Console) { self.console = console }

    public func take(_ message: StreamMessage) {
        switch message {
        case .event(let event, of: let target):
            let shown = event.of(target)
            // The view shows the first target.
            switch target?.number ?? 0 == 0 ? state.withLock({ $0.outage.take(event) }) : .line {
            case .line: console.emit(shown)
            case .nothing: console.emit(shown, showsText: false)
            case .counter(let text):
                console.emit(shown, showsText: false)
                console.note(text)
            }
        case .leads: break
        case .note(let text): console.note(text)
        case .log(let text): console.log(text)
        case .answer(let id, let outcome):
            if let form = state.withLock({ $0.awaited.removeValue(forKey: id) }) { answer(outcome, as: form) }
        case .brightness: break
        case .snapshot(nil): end()
        case .snapshot(let snapshot?):
            state.withLock { state in
                state.recent.removeAll { snapshot.time - $0.time > Self.window || $0.target != snapshot.target }
                state.recent.append(snapshot)
                show(state)
            }
        }
    }

    /// To be called before the question is sent to the stream.
    public func expectAnswer(to id: CommandID, as form: AnswerForm) {
        state.withLock { state in
            if state.awaited.count >= Self.mostAwaited,
                let oldest = state.awaited.keys.min(by: { $0.number < $1.number })
            {
                state.awaited[oldest] = nil
            }
            state.awaited[id] = form
        }
    }

    private func answer(_ outcome: CommandOutcome, as form: AnswerForm) {
        for line in outcome.lines(as: form) {
            if form == .json { console.answer(line) } else { console.note(line) }
        }
    }

    public func typed(prompt: String?) {
        state.withLock { state in
            guard state.prompt != prompt else { return }
            state.prompt = prompt
            show(state)
        }
    }

    /// The stream is over.
    public func end() {
        state.withLock { state in
            state.recent = []
            console.show(view: [])
        }
    }

    private func show(_ state: State) {
        guard console.hasTerminal, let first = state.recent.first, let last = state.recent.last else { return }
        let rates = StreamRates(from: first.sent, to: last.sent, in: last.time - first.time)
        let counter = state.outage.counter.map { ["  \($0)"] } ?? []
        let view = LiveView.lines(last, rates, columns: console.columns)
        console.show(view: view + counter + (state.prompt.map { [$0] } ?? []))
    }
}
