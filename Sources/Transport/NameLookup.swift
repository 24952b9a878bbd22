import LinuxIO
import Synchronization

/// A host name's addresses, looked up on threads of their own, one for each family:
/// a name server that answers only one kind of question does not hold up the other.
///
/// getaddrinfo cannot be stopped. Dropping the object abandons it: the thread
/// ends by itself when the name servers have answered or timed out, and its answer is thrown away.
final class NameLookup {
    struct Answer: Sendable {
        let family: SocketAddress.Family
        let result: Result<[SocketAddress], NameLookupFailure>
    }

    private let mailbox: Mailbox

    init(_ endpoint: Endpoint) throws(TransportError) {
        do {
            mailbox = try Mailbox()
        } catch {
            throw .socketFailed(error)
        }
        for family in [SocketAddress.Family.ipv6, .ipv4] { start(family, endpoint) }
    }

    /// Readable when `takeAnswers` has something.
    var fileDescriptor: Int32 { mailbox.event.fileDescriptor }

    func takeAnswers() -> [Answer] {
        mailbox.event.drain()
        return mailbox.answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }

    /// What the threads share with their owner, and keep when they are abandoned.
    private final class Mailbox: Sendable {
        let event: EventFD
        let answers = Mutex<[Answer]>([])

        init() throws(SystemCallError) { event = try EventFD() }

        func post(_ answer: Answer) {
            answers.withLock { $0.append(answer) }
            event.signal()
        }
    }

    private func start(_ family: SocketAddress.Family, _ endpoint: Endpoint) {
        let mailbox = mailbox
        guard runningLookups.add(1, ordering: .relaxed).newValue <= maximumLookups else {
            runningLookups.subtract(1, ordering: .relaxed)
            let reason = "\(maximumLookups) lookups before it still wait for the name server"
            return mailbox.post(Answer(family: family, result: .failure(NameLookupFailure(reason: reason))))
        }
        do {
            _ = try NamedThread("lookup-\(family)", mayBlock: true) {
                let result = SocketAddress.lookUp(endpoint.host, port: endpoint.port, family: family)
                runningLookups.subtract(1, ordering: .relaxed)
                mailbox.post(Answer(family: family, result: result))
            }
        } catch {
            runningLookups.subtract(1, ordering: .relaxed)
            mailbox.post(Answer(family: family, result: .failure(NameLookupFailure(reason: error.description))))
        }
    }
}

private let runningLookups = Atomic<Int>(0)

/// Reconnecting for ever with a dead name server leaves threads behind for as long as
/// getaddrinfo waits (30 s as a rule). Two of them every 5 s stay below this.
private let maximumLookups = 32
