import Bitstream
import Encoding
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import RecordingLogic
import Testing

@testable import Recording

/// A recorder in a temporary folder.
struct RecorderRun {
    let directory: TemporaryDirectory
    let disk = ScriptedDisk()
    let events: RecordedEvents
    let recorder: Recorder
    let folder: String
    let plan: RecordingPlan

    init(
        in directory: TemporaryDirectory? = nil, settings: RecordingSettings = RecordingSettings(length: .seconds(10)),
        hasAudio: Bool = true, bufferByteCount: Int = 16 << 20
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        folder = directory.file("recordings")
        let events = try RecordedEvents()
        self.events = events
        plan = RecordingPlan(in: .folder(folder), settings, hasAudio: hasAudio)
        recorder = try Recorder(
            bufferByteCount: bufferByteCount, disk: disk, clock: .fixed, report: { events.add($0) })
    }

    /// Starts, and waits until packets are taken.
    func start() {
        recorder.start(plan)
        #expect(events.wait(for: .stateChanged(.recording)))
        // The thread opens the sink before it reports.
        recorder.sink.bring(SampleStream.headers)
    }

    func record(_ times: Range<Int64>, frameByteCount: Int = 200) {
        recorder.sink.bring(SampleStream.packets(times, frameByteCount: frameByteCount))
    }

    func movies() throws -> [(name: String, movie: MP4Movie)] {
        try fileNames(in: folder).filter { $0.hasSuffix(".mp4") }.sorted().map { name in
            let bytes = try readFile("\(folder)/\(name)", limit: 1 << 26)
            var offset = 0
            while true {
                let header = try MP4BoxHeader(parsing: Array(bytes[offset...].prefix(16)))
                let start = offset + header.headerByteCount
                let end = start + (header.contentByteCount ?? 0)
                if header.type == "moov" {
                    return (name, try MP4Movie(parsing: Array(bytes[start..<end]), fileByteCount: bytes.count))
                }
                offset = end
            }
        }
    }
}

@Suite struct RecorderTests {
    @Test func streamIsInFilesOfTheirLengthWithJournals() throws {
        let run = try RecorderRun()
        run.start()
        run.record(0..<12_400)
        run.recorder.stop()
        #expect(run.recorder.end(within: .patience))
        let movies = try run.movies()
        #expect(movies.map(\.name) == ["000001_20261126T133905Z.mp4", "000002_20261126T133915Z.mp4"])
        #expect(movies.map { $0.movie.video?.samples.count } == [250, 60])
        #expect(movies.map { $0.movie.audio?.samples.count } == [500, 120])
        #expect(run.events.finished.map(\.frameCount) == [250, 60])
        let journal = try readFile("\(run.folder)/000002_20261126T133915Z.jsonl", limit: 1000)
        #expect(
            JournalText.entries(in: journal) == [
                .start(nanosecondsSince1970: 1_795_700_355_000_000_000, clockError: .milliseconds(20))
            ])
        #expect(run.events.all.last == .stateChanged(.off))
    }

    @Test func hubRecordsWithoutAskingTwiceForAKeyframe() throws {
        let run = try RecorderRun()
        let hub = PacketHub(tracks: 2)
        hub.mediaStarted(at: .zero)
        for header in SampleStream.headers { hub.append([header]) }
        hub.add(run.recorder.sink)
        run.recorder.start(run.plan)
        #expect(run.events.wait(for: .stateChanged(.recording)))
        for packet in SampleStream.packets(0..<1400) { hub.append([packet]) }
        let epoch = hub.epochStarts(replacesVideo: true, replacesAudio: false)
        hub.append(
            [EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: SampleStream.otherHeader)], epoch: epoch)
        for packet in SampleStream.packets(2000..<3000) { hub.append([packet], epoch: epoch) }
        hub.remove(run.recorder.sink)
        #expect(run.recorder.end(within: .patience))
        #expect(try run.movies().map { $0.movie.video?.samples.count } == [35, 25])
    }

    @Test func whatComesWhileTheFolderIsOpenedIsRecorded() throws {
        let run = try RecorderRun()
        run.disk.gate.withLock { _ in
            run.recorder.start(run.plan)
            run.recorder.sink.bring(SampleStream.headers)
            run.record(0..<1400)
        }
        #expect(run.events.wait(for: .stateChanged(.recording)))
        run.record(1400..<2000)
        #expect(run.recorder.end(within: .patience))
        #expect(try run.movies().map { $0.movie.video?.samples.count } == [50])
    }

    @Test func acknowledgmentsAndMarksAreInTheJournal() throws {
        let run = try RecorderRun()
        run.start()
        run.record(0..<4000)
        #expect(run.events.wait { if case .fileStarted = $0 { true } else { false } })
        run.recorder.sink.acknowledged(by: "a", MediaTimestamp.zero..<MediaTimestamp(milliseconds: 1500))
        run.recorder.sink.acknowledged(by: "a", MediaTimestamp(milliseconds: 2500)..<MediaTimestamp(milliseconds: 3000))
        run.recorder.stop()
        // After the file's end.
        run.recorder.sink.acknowledged(by: "a", MediaTimestamp(milliseconds: 3000)..<MediaTimestamp(milliseconds: 9000))
        #expect(run.recorder.end(within: .patience))
        let journal = try readFile("\(run.folder)/000001_20261126T133905Z.jsonl", limit: 10_000)
        let contents = RecordingJournalContents(JournalText.entries(in: journal))
        let movie = try #require(try run.movies().first?.movie.video)
        let keyframes = movie.samples.filter(\.isKeyframe).map { movie.time(of: $0) }
        #expect(keyframes == [0, 1, 2, 3].map { .seconds($0) })
        #expect(
            contents.gaps(of: "a", keyframes: keyframes, end: .milliseconds(3990)).ranges == [
                .seconds(1)..<(.seconds(3))
            ])
    }

    /// After every number of disk calls, the power fails; the next start repairs what is left.
    @Test func powerCutAtAnyCallLosesNoCompleteFragment() throws {
        for steps in 0..<26 {
            let directory = try TemporaryDirectory()
            do {
                let run = try RecorderRun(in: directory)
                run.start()
                run.disk.state.withLock { $0.stepsLeft = steps }
                run.record(0..<13_400)
                _ = run.events.wait { if case .stateChanged(.failed) = $0 { true } else { false } }
                #expect(run.recorder.end(within: .patience))
            }
            let run = try RecorderRun(in: directory)
            run.start()
            #expect(run.recorder.end(within: .patience))
            let counts = try run.movies().map { $0.movie.video?.samples.count ?? 0 }
            // open, write and synchronize; then the same for each fragment: a write that was not synchronized may be there.
            let fragments = max(0, (steps - 3) / 2)
            #expect(counts.first ?? 0 >= min(10, fragments) * 25, "\(steps) calls: \(counts)")
            #expect(!run.events.all.contains { if case .repairFailed = $0 { true } else { false } })
        }
    }

    @Test func slowDiskCostsGOPsButNeverTheStream() throws {
        // A thread at the gate counts as working, so that no time passes meanwhile.
        try VirtualTime().run {
            let run = try RecorderRun(bufferByteCount: 1 << 20)
            run.start()
            run.record(0..<2000)
            #expect(run.events.wait { if case .fileStarted = $0 { true } else { false } })
            run.disk.gate.withLock { _ in
                // The caller is not held up: 5 MB into a buffer of 1 MB.
                run.record(2000..<12_000, frameByteCount: 20_000)
                #expect(run.recorder.sink.isDropping && run.recorder.sink.byteCount <= 1 << 20)
                #expect(run.events.all.count { $0 == .droppingStarted } == 1)
                // The thread reaches the call that hangs.
                while !run.disk.isHanging { usleep(1000) }
                let now = MonotonicClock.now()
                run.recorder.check(now: now)
                #expect(run.recorder.stalledCall(now: now) == nil)
                run.recorder.check(now: now + .seconds(6))
                run.recorder.check(now: now + .seconds(7))
                let stalls = run.events.all.filter { if case .stalled = $0 { true } else { false } }
                #expect(stalls.count == 1)
                #expect(run.recorder.stalledCall(now: now + .seconds(6)) != nil)
            }
            #expect(run.events.wait { if case .stallEnded = $0 { true } else { false } })
            while run.recorder.sink.byteCount > 1 << 18 { usleep(1000) }
            run.record(12_000..<14_000)
            #expect(run.events.wait { if case .droppingEnded = $0 { true } else { false } })
            #expect(run.recorder.end(within: .patience))
            let losses = run.events.all.compactMap { if case .droppingEnded(let loss) = $0 { loss } else { nil } }
            #expect(losses.count == 1)
            let recorded = try run.movies().map { $0.movie.video?.samples.count ?? 0 }
            // Every frame is in a file or counted.
            #expect(recorded.reduce(0, +) + (losses.first?.frameCount ?? 0) == 350)
            #expect(recorded.count == 2 && recorded.last == 50)
        }
    }

    @Test(arguments: [
        ("pwrite", ENOSPC, RecordingFailure.Kind.noSpace), ("pwrite", EROFS, .readOnly), ("fdatasync", EIO, .broken),
        ("open", EROFS, .readOnly), ("mkdir", ENOENT, .missing), ("open", EACCES, .other),
    ])
    func failureIsReportedAndRecordingContinuesAfterIt(call: String, number: Int32, kind: RecordingFailure.Kind) throws
    {
        try VirtualTime().run {
            let run = try RecorderRun()
            run.disk.fail(call, number)
            run.recorder.sink.bring(SampleStream.headers)
            run.recorder.start(run.plan)
            if kind != .missing {
                #expect(run.events.wait(for: .stateChanged(.recording)))
                run.record(0..<3000)
            }
            let isKind: (RecordingEvent) -> Bool = { event in
                switch event {
                case .stateChanged(.failed(let failure)), .stateChanged(.waitingForDisk(let failure)):
                    failure.kind == kind
                        && failure.text.contains(run.directory.path) && failure.text.hasPrefix("\(call) ")
                default: false
                }
            }
            #expect(run.events.wait(for: isKind))
            run.disk.fail(call, nil)
            let before = run.events.all.count
            #expect(
                run.events.wait { _ in run.events.all.dropFirst(before).contains(.stateChanged(.recording)) })
            run.record(5000..<8000)
            #expect(run.recorder.end(within: .patience))
            #expect(try run.movies().last?.movie.video?.samples.count == 75)
        }
    }

    @Test func anotherLayoutAndOtherNamesAreLeftAlone() throws {
        let directory = try TemporaryDirectory()
        #expect(mkdir(directory.file("recordings"), 0o755) == 0)
        let others = ["holiday.mp4", "000007_noclock.mp4", "000009_noclock.jsonl", "notes.txt"]
        for name in others { _ = try directory.write(Array("something else".utf8), to: "recordings/\(name)") }
        let run = try RecorderRun(in: directory)
        run.start()
        run.record(0..<2000)
        #expect(run.recorder.end(within: .patience))
        for name in others {
            #expect(try readFile("\(run.folder)/\(name)", limit: 100) == Array("something else".utf8))
        }
        #expect(try fileNames(in: run.folder).contains("000008_20261126T133905Z.mp4"))
    }

    @Test func folderOfThousandsIsOpenedByLookingAtTheNewest() throws {
        let directory = try TemporaryDirectory()
        #expect(mkdir(directory.file("recordings"), 0o755) == 0)
        for number in 1...10_000 {
            let path = directory.file("recordings/\(RecordingName(number: number, secondsSince1970: nil).file)")
            _ = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT)
        }
        let run = try RecorderRun(in: directory)
        run.start()
        #expect(run.disk.state.withLock { $0.openCount } == 64)
        run.record(0..<1000)
        #expect(run.recorder.end(within: .patience))
        // 64 were empty.
        #expect(try fileNames(in: run.folder).count { $0.hasSuffix(".mp4") } == 10_000 - 64 + 1)
    }
}

@Suite struct JournalTextTests {
    private let entries: [RecordingJournalEntry] = [
        .start(nanosecondsSince1970: 1_795_700_345_120_000_000, clockError: .milliseconds(20)),
        .acknowledged(target: "you\"tube\n", .zero..<(.milliseconds(12_040))),
        .mark(text: "Tor für Köln", at: .milliseconds(31_500)),
        .start(nanosecondsSince1970: nil, clockError: nil),
    ]

    @Test func everyTruncationKeepsTheLinesBefore() {
        let lines = entries.map(JournalText.line)
        let text = lines.flatMap { $0 }
        #expect(JournalText.entries(in: text) == entries)
        for length in 0...text.count {
            var rest = length
            // A line without its end is complete, too.
            let whole = lines.prefix { line in
                defer { rest -= line.count }
                return rest >= line.count - 1
            }
            #expect(JournalText.entries(in: Array(text.prefix(length))) == Array(entries.prefix(whole.count)))
        }
    }

    @Test func damagedLinesAreSkipped() {
        let text = """
            {"target":"a","from":2.0,"to":1.0}
            {"target":"a","from":-1,"to":1}
            {"target":"a","from":0,"to":1e30}
            {"target":7,"from":0,"to":1}
            [] nonsense {
            \0\0\0\0
            {"other":"key"}
            {"mark":"goal"}
            {"target":"a","from":0,"to":1}
            """
        #expect(
            JournalText.entries(in: Array(text.utf8)) == [.acknowledged(target: "a", .zero..<(.seconds(1)))])
    }
}
