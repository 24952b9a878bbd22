import Media
import Synchronization

/// Why the card's thread gave no result.
public enum CardCallError: Error, Hashable, Sendable {
    /// The thread was still busy with this work, or with earlier work.
    case unanswered(after: Duration)
    /// The caller was asked to stop waiting.
    case canceled
    /// The kernel gave the caller no descriptor to wait on.
    case systemFailed(SystemCallError)
}

extension CardCallError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unanswered(let patience): "the card has not answered for \(patience)"
        case .canceled: "stopped"
        case .systemFailed(let error): "\(error)"
        }
    }
}

/// Lets watched threads hand over work that takes as long as the memory card likes. The card's thread does the work; the caller
/// waits no longer than it chooses to. Any thread.
///
///     let calls = try CardCalls()                                          // the card's thread polls `calls.fileDescriptor`
///     let bytes = try calls.call(within: .seconds(10)) { ... }             // on a thread that is watched
public struct CardCalls: Sendable {
    /// The caller does the work itself, however long it takes. For programs without a watchdog.
    public static let onCallingThread = CardCalls(queue: nil)

    private let queue: Queue?

    public init() throws(SystemCallError) { queue = try Queue() }

    private init(queue: Queue?) { self.queue = queue }

    private enum Waited {
        case answer, cancellation
    }

    /// Runs the body on the card's thread. If the caller has given up before its turn comes, the body is not started.
    /// - Parameters:
    ///   - patience: how long the caller waits.
    ///   - cancellation: a descriptor that ends the wait when it becomes readable. Nothing is read from it.
    public func call<Value: Sendable>(
        within patience: Duration, cancellation: Int32 = -1, _ body: @escaping @Sendable () -> Value
    ) throws(CardCallError) -> Value {
        guard let queue else { return body() }
        var waits = PollSet<Waited>()
        do throws(SystemCallError) {
            let answer = try Answer<Value>()
            let work = Work { answer.give(body()) }
            queue.add(work)
            defer { queue.remove(work) }
            waits.add(.answer, answer.given.fileDescriptor)
            waits.add(.cancellation, cancellation)
            try waits.wait(until: MonotonicClock.now() + patience)
            if let value = answer.value { return value }
        } catch {
            throw .systemFailed(error)
        }
        throw waits.isReady(.cancellation) ? .canceled : .unanswered(after: patience)
    }

    /// Readable when there is work for `performWaiting`.
    public var fileDescriptor: Int32 { queue?.wakeup.fileDescriptor ?? -1 }

    /// Does the work that callers are waiting for. Called by the card's thread.
    public func performWaiting() {
        queue?.wakeup.drain()
        while let work = queue?.takeFirst() { work.body() }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Holds at most one piece of work for each waiting thread.
    private final class Queue: Sendable {
        let wakeup: EventFD
        private let waiting = Mutex<[Work]>([])

        init() throws(SystemCallError) { wakeup = try EventFD() }

        func add(_ work: Work) {
            waiting.withLock { $0.append(work) }
            wakeup.signal()
        }

        func remove(_ work: Work) { waiting.withLock { $0.removeAll { $0 === work } } }

        func takeFirst() -> Work? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    /// Carries the result back. The card's thread may store it after the caller has given up.
    private final class Answer<Value: Sendable>: Sendable {
        let given: EventFD
        private let content = Mutex<Value?>(nil)

        init() throws(SystemCallError) { given = try EventFD() }

        var value: Value? { content.withLock { $0 } }

        func give(_ value: Value) {
            content.withLock { $0 = value }
            given.signal()
        }
    }
}
