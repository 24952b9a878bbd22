import Synchronization

/// Messages from any thread to the one that polls `wakeup`, in the order they were sent.
public final class Mailbox<Message: Sendable>: Sendable {
    public let wakeup: EventFD
    private let messages = Mutex<[Message]>([])

    public init() throws(SystemCallError) { wakeup = try EventFD() }

    public func send(_ message: Message) {
        messages.withLock { $0.append(message) }
        wakeup.signal()
    }

    public func takeAll() -> [Message] {
        wakeup.drain()
        return messages.withLock { messages in
            defer { messages.removeAll(keepingCapacity: true) }
            return messages
        }
    }
}
