import LinuxIO
import Synchronization

/// Messages from any thread to the one that polls `wakeup`, in the order they were sent.
final class Mailbox<Message: Sendable>: Sendable {
    let wakeup: EventFD
    private let messages = Mutex<[Message]>([])

    init() throws(SystemCallError) { wakeup = try EventFD() }

    func send(_ message: Message) {
        messages.withLock { $0.append(message) }
        wakeup.signal()
    }

    func takeAll() -> [Message] {
        wakeup.drain()
        return messages.withLock { messages in
            defer { messages.removeAll(keepingCapacity: true) }
            return messages
        }
    }
}
