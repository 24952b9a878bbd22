import Bitstream
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing
import Transport
import WireSupport

@testable import Receiving

/// A receiver on loopback, ended by a signal to its thread.
private final class RunningReceiver {
    let recorder = EventRecorder()
    let messages: Mailbox<String>
    private let ends: Mailbox<String?>
    private let identity = Mutex<pthread_t?>(nil)
    private var thread: JoinableThread?

    init(recordPath: String? = nil, silence: Duration = .seconds(1), faults: ReceiverFault...) throws {
        ends = try Mailbox()
        messages = try Mailbox()
        let (recorder, ends, messages, listed) = (recorder, ends, messages, ReceiverFaults(faults))
        let started = try Mailbox<pthread_t>()
        thread = JoinableThread(
            try NamedThread("receiver") {
                started.send(pthread_self())
                do {
                    let receiver = try Receiver(
                        endpoint: Endpoint(host: "127.0.0.1", port: 0),
                        recording: recordPath.map { Receiver.Recording(path: $0) },
                        reportsArrivals: true,
                        faults: listed, silence: silence, report: { recorder.record($0) },
                        log: { messages.send($0) })
                    try receiver.run()
                    ends.send(nil)
                } catch {
                    ends.send("\(error)")
                }
            })
        var threads: [pthread_t] = []
        _ = becomesTrue {
            threads += started.takeAll()
            return !threads.isEmpty
        }
        let number = threads.first
        identity.withLock { $0 = number }
    }

    deinit { _ = end() }

    /// - Returns: why it failed.
    func end() -> String? {
        guard let thread else { return nil }
        self.thread = nil
        if let identity = identity.withLock({ $0 }) { pthread_kill(identity, SIGTERM) }
        thread.join()
        return ends.takeAll().first ?? "no end"
    }

    func connect() throws -> ScriptedPublisher {
        let isListening = becomesTrue { recorder.field("address", of: "listening") != nil }
        try #require(isListening)
        let address = try #require(recorder.field("address", of: "listening"))
        return ScriptedPublisher(try Connector.connect(to: Endpoint(parsing: address)))
    }
}

@Suite struct ReceiverTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func publish(_ publisher: ScriptedPublisher) {
        #expect(becomesTrue { served(publisher).isPublishing })
        for tag in tags { publisher.send(tag) }
        #expect(becomesTrue { served(publisher).isWritten })
        publisher.stop()
        #expect(becomesTrue { served(publisher).isWritten })
    }

    private func served(_ publisher: ScriptedPublisher) -> ScriptedPublisher {
        publisher.serve()
        return publisher
    }

    @Test func publishersAreRecordedAndCounted() throws {
        let path = directory.file("a.flv")
        let receiver = try RunningReceiver(recordPath: path)
        for number in 1...2 {
            let publisher = try receiver.connect()
            publish(publisher)
            #expect(becomesTrue { receiver.recorder.events("publisherEnded").count == number })
            publisher.stream.close()
        }
        for file in [path, directory.file("a-2.flv")] {
            #expect(try recordedTags(file).filter { $0.kind != .script } == tags)
            #expect(
                try recordedTags(file).first.flatMap { RecordingTotals.metadata(in: $0) }?.first?.value == .number(0.4))
        }
        // The second publisher's recording.
        #expect(receiver.recorder.field("recording", of: "publisherStarted") == directory.file("a-2.flv"))
        #expect(receiver.recorder.field("stream", of: "publisherEnded") == "2")
        #expect(receiver.recorder.field("application", of: "publisherStarted") == "live/***")
        #expect(receiver.recorder.field("videoFrames", of: "publisherEnded") == "20")
        #expect(receiver.recorder.field("keyframes", of: "publisherEnded") == "1")
        #expect(receiver.recorder.field("videoSeconds", of: "publisherEnded") == "0.38")
        #expect(receiver.recorder.field("largestVideoGap", of: "publisherEnded") == "0.02")
        #expect(receiver.recorder.field("disordered", of: "publisherEnded") == "0")
        #expect(receiver.recorder.events("arrived").count == 40)
        #expect(receiver.end() == nil)
    }

    @Test func secondPublisherOfAStreamIsRefused() throws {
        let receiver = try RunningReceiver(silence: .seconds(3600))
        let (first, second) = (try receiver.connect(), try receiver.connect())
        #expect(becomesTrue { served(first).isPublishing })
        #expect(becomesTrue { served(second).failure == -1008 })
        #expect(!second.isPublishing && !served(first).hasLostConnection)
        // The answer is sent before it is reported.
        #expect(becomesTrue { receiver.recorder.field("reason", of: "refused") == "nameInUse" })
        #expect(receiver.recorder.field("application", of: "refused") == "live/***")
        first.stop()
        #expect(becomesTrue { served(first).isWritten && receiver.recorder.events("publisherEnded").count == 1 })
        let third = try receiver.connect()
        #expect(becomesTrue { served(third).isPublishing })
        #expect(receiver.end() == nil)
    }

    @Test func silentPublisherIsReplaced() throws {
        let path = directory.file("a.flv")
        let receiver = try RunningReceiver(recordPath: path, silence: .zero)
        let first = try receiver.connect()
        #expect(becomesTrue { served(first).isPublishing })
        for tag in tags { first.send(tag) }
        #expect(becomesTrue { served(first).isWritten && receiver.recorder.events("arrived").count == 20 })
        let next = try receiver.connect()
        #expect(becomesTrue { served(next).isPublishing && receiver.recorder.events("publisherEnded").count == 1 })
        #expect(becomesTrue { served(first).hasLostConnection })
        #expect(try recordedTags(path).filter { $0.kind != .script } == tags)
        #expect(receiver.end() == nil)
    }

    @Test func lostPublisherDoesNotBlockTheStream() throws {
        let receiver = try RunningReceiver(silence: .seconds(3600))
        let first = try receiver.connect()
        #expect(becomesTrue { served(first).isPublishing })
        first.stream.abort()
        let second = try receiver.connect()
        #expect(becomesTrue { served(second).isPublishing })
        #expect(receiver.recorder.events("refused").isEmpty)
        #expect(receiver.end() == nil)
    }

    @Test func publisherActiveAtTheReceiversEndIsCountedToo() throws {
        let receiver = try RunningReceiver()
        let publisher = try receiver.connect()
        #expect(becomesTrue { served(publisher).isPublishing })
        for tag in tags { publisher.send(tag) }
        #expect(
            becomesTrue {
                publisher.serve()
                return receiver.recorder.events("arrived").count == 20
            })
        #expect(receiver.end() == nil)
        #expect(receiver.recorder.field("videoFrames", of: "publisherEnded") == "20")
        #expect(becomesTrue { served(publisher).hasLostConnection })
    }

    @Test func connectionsWaitForNoAccept() throws {
        let start = MonotonicClock.now()
        let receiver = try RunningReceiver(faults: .noAccept(.milliseconds(500)))
        let publisher = try receiver.connect()
        #expect(becomesTrue { served(publisher).isPublishing })
        #expect(MonotonicClock.now() - start >= .milliseconds(450))
        #expect(receiver.end() == nil)
    }

    @Test func onlyTheFirstConnectionIsHit() throws {
        let receiver = try RunningReceiver(faults: try ReceiverFault(parsing: "bad-name"))
        let refused = try receiver.connect()
        #expect(becomesTrue { served(refused).failure == -1008 })
        let accepted = try receiver.connect()
        #expect(becomesTrue { served(accepted).isPublishing })
        #expect(receiver.end() == nil)
    }

    @Test func surplusConnectionsWaitUntilAnotherEnds() throws {
        // Connections with faults are not disconnected while they publish nothing.
        let receiver = try RunningReceiver(faults: .tinyWindow, .everyConnection)
        func acceptedCount() -> Int { receiver.recorder.events("accepted").count }
        var publishers = try (0..<Admission.mostConnections).map { _ in try receiver.connect() }
        #expect(becomesTrue { acceptedCount() == Admission.mostConnections })
        let (surplus, last) = (try receiver.connect(), try receiver.connect())
        #expect(becomesTrue { served(publishers[0]).isPublishing }, "others are served")
        #expect(acceptedCount() == Admission.mostConnections)
        publishers.removeLast().stream.close()
        #expect(becomesTrue { served(surplus).receivedByteCount > 0 })
        #expect(acceptedCount() == Admission.mostConnections + 1 && served(last).receivedByteCount == 0)
        let reports = receiver.messages.takeAll().filter { $0.contains("32 connections are open") }
        #expect(reports.count == 1)
        #expect(receiver.end() == nil)
    }

    @Test func failureOfOneRecordingFinishesTheOthers() throws {
        let path = directory.file("a.flv")
        let receiver = try RunningReceiver(recordPath: path, silence: .zero)
        let first = try receiver.connect()
        #expect(becomesTrue { served(first).isPublishing })
        for tag in tags { first.send(tag) }
        #expect(becomesTrue { served(first).isWritten && receiver.recorder.events("arrived").count == 20 })
        mkdir(directory.file("a-2.flv"), 0o755)
        let second = try receiver.connect()
        #expect(becomesTrue { served(second).hasLostConnection })
        #expect(receiver.end()?.contains("a-2.flv") == true)
        #expect(
            try recordedTags(path).first.flatMap { RecordingTotals.metadata(in: $0) }?.first?.value == .number(0.4))
    }

    @Test func unwritableRecordingIsReportedAtTheStart() throws {
        let receiver = try RunningReceiver(recordPath: directory.file("none/a.flv"))
        let end = receiver.end()
        #expect(receiver.recorder.events("listening").isEmpty)
        #expect(end?.contains("recording") == true, "\(end ?? "")")
    }
}
