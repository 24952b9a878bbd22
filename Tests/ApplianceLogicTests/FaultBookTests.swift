import ApplianceLogic
import Media
import SeededNumbers
import StreamLogic
import Testing

@Suite("Fault book")
struct FaultBookTests {
    typealias Failure = FaultBook.Failure

    private let now = MediaTimestamp.zero
    private var book = FaultBook()
    private let refused = ConnectionFailure(code: -1001, text: "the server refused")

    /// The next contents of faults.txt; `nil` if unchanged.
    private mutating func news() -> FaultBook.News? {
        book.takeNews { .ofKind($0.fault, "\($0.text)\($0.choices.map { " or \($0)" }.joined())") }
    }

    private mutating func lines() -> [String] { news()?.report.lines ?? [] }

    @Test mutating func eachFailedTargetIsNamedUntilItHeals() {
        let (youTube, studio) = (TargetID(0, name: "youtube"), TargetID(1, name: "studio"))
        book.targetFailed(studio, .netStreamFailed, "refused")
        book.targetFailed(youTube, nil, "no route")
        #expect(book.current == [.server])
        #expect(news()?.report.files.map(\.fault.problem) == ["youtube: no route", "studio: refused"])
        book.targetBecameLive(youTube)
        #expect(book.current == [.server] && news()?.report.files.count == 1)
        book.streamEnded()
        #expect(book.current == [])
    }

    @Test mutating func vainAttemptsOfOneTargetAreItsFaultWhileAnotherIsLive() {
        let (youTube, studio) = (TargetID(0, name: "youtube"), TargetID(1, name: "studio"))
        book.targetBecameLive(youTube)
        book.streamBecameLive()
        for _ in 1...2 { book.attemptFailed(refused, at: .handshake, of: studio) }
        for _ in 1...5 { book.attemptFailed(refused, at: .connect, of: youTube) }
        #expect(book.current == [], "one was live, the other has one attempt left")
        book.attemptFailed(refused, at: .handshake, of: studio)
        #expect(book.current == [.server])
        #expect(news()?.report.files.map(\.fault.problem) == ["studio: \(refused.text)"])
        book.targetSwitchedOff(studio)
        #expect(book.current == [])
        for _ in 1...3 { book.attemptFailed(refused, at: .handshake, of: studio) }
        #expect(book.current == [.server])
        book.targetBecameLive(studio)
        #expect(book.current == [])
    }

    // MARK: Files and hardware

    @Test mutating func faultsOfFilesAreShownButWarningsAreNot() {
        book.filesRead([.ofKind(.settings), .ofKind(.streamFile, isWarning: true)], isOther: false)
        #expect(book.current == [.settings])
        #expect(news()?.report.files.count == 2)
        book.filesRead([], isOther: false)
        #expect(book.current == [])
    }

    @Test mutating func liveConnectionToleratesMissingCertificatesUntilItEnds() {
        let endings: [(inout FaultBook) -> Void] = [
            { $0.streamStopped() }, { $0.streamFailed(Failure(.server, "refused"), now: .zero) },
        ]
        for ends in endings {
            book.filesRead([.ofKind(.streamFile)], isTolerated: true, isOther: false)
            #expect(!book.current.contains(.streamFile))
            #expect(!lines().isEmpty, "it is said all the same")
            ends(&book)
            #expect(book.current.contains(.streamFile))
            _ = news()
            book.filesRead([], isOther: true)
            _ = news()
        }
    }

    @Test mutating func hardwareProgramAndCardFaultsAreBoardFaults() {
        let faulty: [(hardware: [FileFault], program: String?, card: [String])] = [
            ([.ofKind(.board)], nil, []), ([], "no commands can be taken", []), ([], nil, ["the card is full"]),
        ]
        for (hardware, program, card) in faulty {
            book.boardChecked(hardware: hardware, program: program, card: card)
            #expect(book.current == [.board])
            book.boardChecked(hardware: [], program: nil, card: [])
            #expect(book.current == [])
        }
        book.filesRead([.ofKind(.board)], isOther: false)
        book.boardChecked(hardware: [], program: nil, card: [])
        #expect(book.current == [.board], "the file is still wrong")
    }

    @Test mutating func cardFaultsAreOnlyShownOnTheConsole() {
        book.boardChecked(hardware: [], program: nil, card: ["the card is full"])
        let text = news()?.report.text
        #expect(text == nil)
        #expect(book.lines == ["the card is full"])
    }

    @Test mutating func wrongWiFiPasswordIsAFaultButAnUnreachableNetworkIsNot() {
        book.wirelessChecked([.ofKind(.network, "out of reach")])
        #expect(book.current == [])
        book.wirelessChecked([.ofKind(.settings, "wrong password")])
        #expect(book.current == [.settings])
        book.networkChanged(isUp: false)
        #expect(book.current == [.settings, .network])
        book.networkChanged(isUp: true)
        book.wirelessChecked([])
        #expect(book.current == [])
    }

    @Test mutating func deadEncoderStaysAcrossStreamsAndFiles() {
        book.hardwareEncoderChecked("it is dead")
        book.filesRead([], isOther: true)
        book.streamStarted()
        book.streamBecameLive()
        book.streamEnded()
        #expect(book.current == [.hardwareEncoder])
        #expect(lines() == ["it is dead"])
        book.hardwareEncoderChecked(nil)
        #expect(book.current == [])
    }

    @Test mutating func crashingStreamIsAFaultUntilTheNextStart() {
        book.streamStands("it dies")
        #expect(book.current == [.board])
        #expect(lines() == ["it dies"])
        book.streamStarted()
        #expect(book.current == [])
        #expect(lines() == [])
    }

    // MARK: Attempts

    @Test(arguments: [StreamEvent.RetryStage.lookup, .connect, .handshake])
    mutating func threeFailedAttemptsAreAServerFault(stage: StreamEvent.RetryStage) {
        for _ in 1...2 {
            book.attemptFailed(refused, at: stage)
            #expect(book.current == [])
        }
        book.attemptFailed(refused, at: stage)
        #expect(book.current == [.server])
        #expect(book.retryTime == nil, "the attempts go on by themselves")
        book.streamBecameLive()
        #expect(book.current == [])
    }

    @Test mutating func otherFailedAttemptsAreNotAServerFault() {
        for _ in 1...5 { book.attemptFailed(refused, at: .close) }
        #expect(book.current == [], "a stream that was taken")
        book.networkChanged(isUp: false)
        for _ in 1...5 { book.attemptFailed(refused, at: .lookup) }
        #expect(book.current == [.network], "nobody knows without a network")
        book.networkChanged(isUp: true)
        book.streamBecameLive()
        for _ in 1...5 { book.attemptFailed(refused, at: .connect) }
        #expect(book.current == [], "a stream that was up shows that it reconnects")
    }

    @Test mutating func attemptsAreCountedForEachStream() {
        for _ in 1...2 { book.attemptFailed(refused, at: .connect) }
        book.streamEnded()
        book.streamStopped()
        for _ in 1...2 { book.attemptFailed(refused, at: .connect) }
        #expect(book.current == [])
        book.streamBecameLive()
        book.streamEnded()
        for _ in 1...3 { book.attemptFailed(refused, at: .connect) }
        #expect(book.current == [.server], "the next one has not been up")
    }

    @Test mutating func stoppingTheStreamEndsTheServerFault() {
        for _ in 1...3 { book.attemptFailed(refused, at: .connect) }
        #expect(lines() == [FileFault.ofKind(.server, refused.text)].map { "\($0.file):\($0.fault)" })
        book.streamEnded()
        book.streamStopped()
        #expect(book.current == [])
        #expect(lines() == [])
    }

    // MARK: The end of a stream

    @Test(arguments: [ApplianceFault.camera, .microphone, .encoder])
    mutating func failedDeviceIsRetriedAfterAWhile(fault: ApplianceFault) throws {
        book.streamEnded()
        book.streamFailed(Failure(fault, "it is gone", choices: ["a", "b"]), now: now)
        #expect(book.current == [fault])
        let report = try #require(news())
        #expect(report.report.files.map(\.fault.problem) == ["it is gone or a or b"])
        #expect(book.retryTime == now + .seconds(15))
        #expect(book.takeRetry(now: now + .milliseconds(14_999)) == false)
        #expect(book.takeRetry(now: now + .seconds(15)) == true)
        #expect(book.takeRetry(now: now + .seconds(30)) == false, "once")
        book.mediaForgiven()
        #expect(book.current == [], "the light counts it no more")
        #expect(news() == nil, "the card is not written for each attempt")

        // It failed again, for the same reason.
        book.streamStarted()
        book.streamEnded()
        book.streamFailed(Failure(fault, "it is gone", choices: ["a", "b"]), now: now + .seconds(20))
        #expect(book.current == [fault])
        #expect(news() == nil)
        #expect(book.retryTime == now + .seconds(35))
        book.mediaForgiven()
        book.streamStarted()
        book.streamBecameLive()
        #expect(book.current == [])
        #expect(lines() == [])
    }

    /// There was no memory, or no room for a thread. `stream.json` is not to blame.
    @Test mutating func whatTheSystemRefusesIsRetriedAndHasNoPlaceInAFile() throws {
        let failure = StreamFailure(.system, "pthread_create thread stream: Resource temporarily unavailable (EAGAIN)")
        book.streamFailed(Failure(ApplianceFault(failure), failure, choices: []), now: now)
        #expect(book.current == [.board] && book.retryTime == now + .seconds(15))
        let report = try #require(news()).report
        #expect(report.files.isEmpty && report.lines == [failure.text])
        book.mediaForgiven()
        #expect(book.current == [])
        book.streamStarted()
        book.streamBecameLive()
        #expect(book.current == [])
        #expect(lines() == [])
    }

    @Test mutating func refusingServerIsNotRetried() {
        book.streamFailed(Failure(.server, "refused"), now: now)
        #expect(book.current == [.server])
        #expect(book.retryTime == nil)
        book.mediaForgiven()
        #expect(book.current == [.server], "only a person forgives it")
        book.serverForgiven()
        #expect(book.current == [])
        #expect(!lines().isEmpty, "what it said stays until the start")
        book.streamStarted()
        #expect(lines() == [])
    }

    @Test mutating func deviceThatAStreamFoundWorkingIsNoLongerAFault() {
        book.streamFailed(Failure(.microphone, "no microphone"), now: now)
        book.streamEnded()
        book.streamFailed(Failure(.encoder, "no encoder"), now: now)
        #expect(book.current == [.encoder])
    }

    @Test mutating func changedFilesMayHaveRepairedTheFailure() {
        book.streamFailed(Failure(.camera, "gone"), now: now)
        book.streamFailed(Failure(.server, "refused"), now: now)
        book.filesRead([], isOther: false)
        #expect(book.current == [.camera, .server])
        book.filesRead([], isOther: true)
        #expect(book.current == [])
    }

    // MARK: Sources

    @Test mutating func lostSourceIsAFaultUntilItReturns() {
        book.sourceChanged(.interrupted(.audio, source: "hw:1", reason: "unplugged"))
        #expect(book.current == [.microphone])
        #expect(lines() == ["unplugged; sending silence until hw:1 is back"])
        book.sourceChanged(.interrupted(.video, source: "/dev/video0", reason: "unplugged"))
        #expect(book.current == [.camera, .microphone])
        book.sourceChanged(.returned(.audio, source: "hw:1", after: .seconds(2)))
        #expect(book.current == [.camera])
        book.streamEnded()
        #expect(book.current == [], "the next stream finds out what is there by then")
    }

    @Test mutating func eachLostMicrophoneHasItsOwnLine() {
        for name in ["hw:2", "hw:1"] {
            book.sourceChanged(.interrupted(.audio, source: name, reason: "unplugged"))
        }
        #expect(lines() == ["hw:1", "hw:2"].map { "unplugged; sending silence until \($0) is back" })
        book.sourceChanged(.returned(.audio, source: "hw:2", after: .seconds(2)))
        #expect(book.current == [.microphone])
        #expect(lines() == ["unplugged; sending silence until hw:1 is back"])
        book.sourceChanged(.returned(.audio, source: "hw:1", after: .seconds(3)))
        #expect(book.current == [])
    }

    // MARK: Reports

    @Test mutating func onlyNewFaultsAreRaised() throws {
        let first = try #require(news(), "what an earlier run has left is replaced")
        #expect(first.report.text == nil && first.raised == [])
        #expect(news() == nil)
        book.filesRead([.ofKind(.settings)], isOther: false)
        let second = try #require(news())
        #expect(second.raised.count == 1)
        book.streamFailed(Failure(.camera, "gone"), now: now)
        let third = try #require(news())
        #expect(third.raised.count == 1 && third.report.lines.count == 2)
        #expect(book.lines == third.report.lines)
        book.filesRead([], isOther: false)
        let fourth = try #require(news())
        #expect(fourth.raised == [] && fourth.report.lines.count == 1)
    }

    @Test mutating func fileListsSevereFaultsFirstAndWarningsLast() throws {
        book.filesRead([.ofKind(.streamFile, "odd", isWarning: true), .ofKind(.settings, "wrong")], isOther: false)
        book.streamStands("it dies")
        book.sourceChanged(.interrupted(.video, source: "the camera", reason: "unplugged"))
        let text = try #require(news()?.report.text)
        let wrong = String(decoding: text, as: UTF8.self).split(separator: "\r\n")
            .filter { $0.hasPrefix("  wrong:") }.map { String($0.dropFirst(11)) }
        #expect(
            wrong == ["wrong", "unplugged; repeating the last frame until the camera is back", "it dies", "odd"])
    }

    /// Whatever happened in any order, no fault remains after a person has stopped the stream and repaired everything.
    @Test(arguments: 0..<UInt64(20))
    mutating func noFaultRemainsAfterAllRepairs(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let steps: [(inout FaultBook) -> Void] = [
            { $0.filesRead([.ofKind(.streamFile)], isTolerated: true, isOther: false) },
            { $0.boardChecked(hardware: [.ofKind(.board)], program: "p", card: ["c"]) },
            { $0.wirelessChecked([.ofKind(.settings)]) }, { $0.networkChanged(isUp: false) },
            { $0.hardwareEncoderChecked("dead") }, { $0.streamStands("dies") }, { $0.streamStarted() },
            { $0.attemptFailed(ConnectionFailure(code: -1001, text: "refused"), at: .connect) },
            { $0.streamBecameLive() }, { $0.sourceChanged(.interrupted(.video, source: "a", reason: "b")) },
            { $0.sourceChanged(.returned(.video, source: "a", after: .zero)) }, { $0.streamEnded() },
            { $0.streamFailed(Failure(.camera, "gone"), now: .zero) },
            { $0.streamFailed(Failure(.server, "refused"), now: .zero) }, { $0.mediaForgiven() },
            { $0.serverForgiven() },
        ]
        for _ in 0..<200 { steps[Int.random(in: 0..<steps.count, using: &generator)](&book) }
        book.filesRead([], isOther: false)
        book.boardChecked(hardware: [], program: nil, card: [])
        book.wirelessChecked([])
        book.networkChanged(isUp: true)
        book.hardwareEncoderChecked(nil)
        book.streamStarted()
        book.streamBecameLive()
        book.streamEnded()
        book.streamStopped()
        #expect(book.current == [])
        _ = news()
        #expect(book.lines == [])
    }
}
