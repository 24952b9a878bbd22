import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Testing

@testable import Transport

/// Certificates on a memory card that does not answer.
@Suite struct HangingCardTests {
    private let time = VirtualTime()
    private let directory: TemporaryDirectory
    private let bundle: [UInt8]
    private let cache = TLSContextCache()
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        bundle = try readFile(try TestCertificates.shared.get().authority, limit: 1 << 20)
        file = try directory.write(bundle, to: "ca.pem")
    }

    private func context(_ card: ScriptedCard, _ file: String, cancellation: Int32 = -1) throws -> TLSContext {
        try cache.context(
            authorityFile: file, readBy: card.calls, within: .seconds(10), cancellation: cancellation)
    }

    @Test func loadedCertificatesStayInUse() throws {
        try time.run {
            let card = try ScriptedCard()
            let first = try context(card, file)
            card.hang()
            let start = MonotonicClock.now()
            #expect(try context(card, file) === first)
            #expect(MonotonicClock.now() - start == TLSContextCache.patienceWithKnown)
        }
    }

    @Test func changedCertificatesApplyOnceTheCardAnswers() throws {
        try time.run {
            let card = try ScriptedCard()
            let first = try context(card, file)
            #expect(try context(card, file) === first)
            card.hang()
            _ = try directory.write(bundle + bundle, to: "ca.pem")
            #expect(try context(card, file) === first)
            card.hang(false)
            let start = MonotonicClock.now()
            let second = try context(card, file)
            #expect(second !== first)
            #expect(try context(card, file) === second)
            #expect(MonotonicClock.now() == start)
        }
    }

    @Test func waitsForUnknownCertificatesUntilTheCallersDeadline() throws {
        try time.run {
            let card = try ScriptedCard()
            _ = try context(card, file)
            card.hang()
            let other = try directory.write(bundle, to: "other.pem")
            let start = MonotonicClock.now()
            let error = TransportError.authoritiesUnread(.unanswered(after: .seconds(10)))
            #expect(throws: error) { try context(card, other) }
            #expect(MonotonicClock.now() - start == .seconds(10))
            #expect(error.code == -1201)
            let words = "the CA certificates cannot be read: the card has not answered for 10.0 seconds"
            #expect("\(error)".hasSuffix(words))
        }
    }

    @Test func canceledConnectionDoesNotWaitForTheCard() throws {
        try time.run {
            let (card, end) = (try ScriptedCard(isHanging: true), try EventFD())
            end.signal()
            #expect(throws: TransportError.canceled) {
                try context(card, file, cancellation: end.fileDescriptor)
            }
        }
    }

    /// The lock used to be held during the wait for the disk.
    @Test func readerOfAnotherFileIsNotDelayed() throws {
        let pipe = try directory.makeFIFO("hangs.pem")
        let (cache, file) = (cache, file)
        let hanging = try NamedThread("hangs") { _ = try? cache.context(authorityFile: pipe) }
        // Opening fails until the pipe has a reader, which then blocks for as long as this end stays open.
        var writer = open(pipe, O_WRONLY | O_NONBLOCK)
        while writer < 0 {
            usleep(1000)
            writer = open(pipe, O_WRONLY | O_NONBLOCK)
        }
        let done = try EventFD()
        let reading = try NamedThread("reads") { if (try? cache.context(authorityFile: file)) != nil { done.signal() } }
        var entries = [PollEntry(done.fileDescriptor)]
        #expect(try poll(&entries, until: MonotonicClock.now() + .seconds(60)) > 0)
        close(writer)
        hanging.join()
        reading.join()
    }
}
