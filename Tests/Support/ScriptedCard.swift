import LinuxIO
import Synchronization

/// A card thread that hangs for as long as a test wants.
public final class ScriptedCard: Sendable {
    private final class State: Sendable {
        let isHanging: Mutex<Bool>
        let hasEnded = Mutex(false)
        let changed: EventFD

        init(isHanging: Bool) throws {
            self.isHanging = Mutex(isHanging)
            changed = try EventFD()
        }

        func run(_ calls: CardCalls) {
            while !hasEnded.withLock({ $0 }) {
                changed.drain()
                var entries = [PollEntry(changed.fileDescriptor)]
                // Under the lock, so that no call is performed after `hang` has returned.
                let isHanging = isHanging.withLock { isHanging in
                    if !isHanging { calls.performWaiting() }
                    return isHanging
                }
                if !isHanging { entries.append(PollEntry(calls.fileDescriptor)) }
                guard (try? poll(&entries, until: nil)) != nil else { return }
            }
        }
    }

    public let calls: CardCalls
    private let state: State

    public init(isHanging: Bool = false) throws {
        let (calls, state) = (try CardCalls(), try State(isHanging: isHanging))
        (self.calls, self.state) = (calls, state)
        _ = try NamedThread("card", mayBlock: true) { state.run(calls) }
    }

    deinit {
        state.hasEnded.withLock { $0 = true }
        state.changed.signal()
    }

    public func hang(_ isHanging: Bool = true) {
        state.isHanging.withLock { $0 = isHanging }
        state.changed.signal()
    }
}
