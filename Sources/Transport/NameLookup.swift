import CLinux
import LinuxIO
import Media
import Synchronization

/// A host name's addresses, looked up on threads of their own, one for each family:
/// a name server that answers only one kind of question does not hold up the other.
///
/// A question that got lost on a dead way is not waited for: others race against it, on sockets of their own and to
/// another name server where there is one, a third of a second apart; each is asked again every second. The first that
/// is answered counts.
///
/// getaddrinfo cannot be stopped. Dropping the object abandons it: the thread
/// ends by itself when the name servers have answered or timed out, and its answer is thrown away.
///
/// Used from one thread.
final class NameLookup {
    struct Answer: Sendable {
        let family: SocketAddress.Family
        let result: Result<[SocketAddress], NameLookupFailure>
    }

    /// How often a question is put, and how long after each other.
    private static let rounds = 3
    private static let roundDelay = Duration.milliseconds(333)

    private let endpoint: Endpoint
    private let mailbox: Mailbox<Answer>
    /// How many questions are under way for each family that has no answer.
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

    /// Readable when `takeAnswers` has something.
    var fileDescriptor: Int32 { mailbox.wakeup.fileDescriptor }

    /// When `timePassed` is to be called; `nil` when nothing more will be asked.
    var nextTime: MediaTimestamp? { round < Self.rounds && !questions.isEmpty ? nextRound : nil }

    /// Asks what has not been answered once more, when it is time.
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

    /// One for each family: what the first name server says that has something to say, or, when none of those asked so
    /// far has, why not.
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

    /// The threads keep the mailbox when they are abandoned.
    private func ask(_ family: SocketAddress.Family) {
        let (mailbox, endpoint, isRepeated) = (mailbox, endpoint, round > 0)
        guard runningLookups.add(1, ordering: .relaxed).newValue <= maximumLookups else {
            runningLookups.subtract(1, ordering: .relaxed)
            let reason = "\(maximumLookups) lookups before it still wait for the name server"
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

/// Reconnecting for ever with a dead name server leaves threads behind for as long as getaddrinfo waits: about 5 s for
/// each name server. Six of them every 5 s stay below this.
private let maximumLookups = 32
