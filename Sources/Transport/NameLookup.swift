import CLinux
import LinuxIO
import Media
import Synchronization

/// Looks up a host name's addresses on separate threads, one per family: a name server that answers only one kind of query does
/// not delay the other.
///
/// A lost query does not stall the lookup. Up to three queries run in parallel, a third of a second apart, on separate sockets
/// and to another name server if there is one; each is retransmitted every second. The first answer counts.
///
/// getaddrinfo cannot be canceled. Dropping the object abandons its threads: each ends when the name servers have answered or
/// timed out, and its answer is discarded.
///
/// Used from one thread.
final class NameLookup {
    struct Answer: Sendable {
        let family: SocketAddress.Family
        let result: Result<[SocketAddress], NameLookupFailure>
    }

    /// How many queries are sent per family, and at what interval.
    private static let rounds = 3
    private static let roundDelay = Duration.milliseconds(333)

    private let endpoint: Endpoint
    private let mailbox: Mailbox<Answer>
    /// The number of open queries for each unanswered family.
    private var questions: [SocketAddress.Family: Int] = [.ipv6: 0, .ipv4: 0]
    private var round = 0
    private var nextRound: MediaTimestamp

    init(_ endpoint: Endpoint, now: MediaTimestamp) throws(TransportError) {
        self.endpoint = endpoint
        nextRound = now
        do {
            mailbox = try Mailbox()
        } catch {
            throw .socketFailed(error)
        }
        timePassed(now: now)
    }

    /// Readable when `takeAnswers` has a result.
    var fileDescriptor: Int32 { mailbox.wakeup.fileDescriptor }

    /// When to call `timePassed`; `nil` if no further query will be sent.
    var nextTime: MediaTimestamp? { round < Self.rounds && !questions.isEmpty ? nextRound : nil }

    /// Repeats the unanswered queries when their time has come.
    func timePassed(now: MediaTimestamp) {
        guard let nextTime, now >= nextTime else { return }
        for family in [SocketAddress.Family.ipv6, .ipv4] {
            guard let count = questions[family] else { continue }
            questions[family] = count + 1
            ask(family)
        }
        round += 1
        nextRound = now + Self.roundDelay
    }

    /// At most one answer per family: the first conclusive one, or the reason for failure once every query so far has failed.
    func takeAnswers() -> [Answer] {
        mailbox.takeAll().filter { answer in
            guard let count = questions[answer.family] else { return false }
            if case .failure(let failure) = answer.result, !failure.isAnswer, count > 1 {
                questions[answer.family] = count - 1
                return false
            }
            questions[answer.family] = nil
            return true
        }
    }

    /// The threads keep the mailbox alive after they are abandoned.
    private func ask(_ family: SocketAddress.Family) {
        let (mailbox, endpoint, isRepeated) = (mailbox, endpoint, round > 0)
        guard runningLookups.add(1, ordering: .relaxed).newValue <= maximumLookups else {
            runningLookups.subtract(1, ordering: .relaxed)
            let reason = "\(maximumLookups) earlier lookups are still waiting for the name server"
            return mailbox.send(Answer(family: family, result: .failure(NameLookupFailure(reason: reason))))
        }
        do {
            _ = try NamedThread("lookup-\(family)", mayBlock: true) {
                clinux_hurry_lookups(isRepeated ? 1 : 0)
                let result = SocketAddress.lookUp(endpoint.host, port: endpoint.port, family: family)
                runningLookups.subtract(1, ordering: .relaxed)
                mailbox.send(Answer(family: family, result: result))
            }
        } catch {
            runningLookups.subtract(1, ordering: .relaxed)
            mailbox.send(Answer(family: family, result: .failure(NameLookupFailure(reason: error.description))))
        }
    }
}

private let runningLookups = Atomic<Int>(0)

/// With a dead name server, endless reconnecting leaves threads behind for as long as getaddrinfo waits: about 5 s per name
/// server. Six new ones every 5 s stay below this limit.
private let maximumLookups = 32
