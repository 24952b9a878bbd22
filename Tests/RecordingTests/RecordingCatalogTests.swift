import Bitstream
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import RecordingLogic
import Testing

@testable import Recording

/// A server that gets the stream with interruptions: after each, it starts at a keyframe.
private struct InterruptedServer {
    /// Capture times in milliseconds at which the connection is up.
    let connected: [Range<Int64>]

    /// The frames that it has, by their times.
    func frames(until end: Int64) -> [Int64] {
        connected.flatMap { range -> [Int64] in
            let start = (range.lowerBound + 999) / 1000 * 1000
            return Array(stride(from: start, to: min(range.upperBound, end), by: 40))
        }
    }

    /// What its acknowledgments cover.
    var ranges: [Range<MediaTimestamp>] {
        connected.map { range in
            let start = (range.lowerBound + 999) / 1000 * 1000
            return MediaTimestamp(milliseconds: start)..<MediaTimestamp(milliseconds: range.upperBound)
        }
    }
}

@Suite struct RecordingCatalogTests {
    /// The frames of a file, by their capture times in milliseconds.
    private func frames(_ path: String, from start: Duration) throws -> [Int64] {
        let bytes = try readFile(path, limit: 1 << 24)
        let movie = try MP4Movie(byteCount: bytes.count) { offset, count throws(SystemCallError) in
            Array(bytes[offset..<offset + count])
        }
        let track = try #require(movie.video)
        #expect(track.samples.first { _ in true }?.isKeyframe == true)
        return track.samples.map {
            Int64(((start + track.decodeTime(of: $0)).inSeconds * 1000).rounded())
        }
    }

    /// A stream of so many seconds, all at once, in files of ten seconds.
    private func recorded(_ server: InterruptedServer, seconds: Int64) throws -> RecorderRun {
        let run = try RecorderRun(settings: RecordingSettings(length: .seconds(10)))
        run.start()
        run.record(0..<seconds * 1000)
        // Acknowledgments come after their media.
        let last = "00000\((seconds - 1) / 10 + 1)_"
        #expect(run.events.wait { if case .fileStarted(let path) = $0 { path.contains(last) } else { false } })
        for second in 0..<seconds {
            let times =
                MediaTimestamp(milliseconds: second * 1000)..<MediaTimestamp(milliseconds: second * 1000 + 1000)
            for range in server.ranges where range.overlaps(times) {
                run.recorder.sink.acknowledged(by: "studio", range.clamped(to: times))
            }
        }
        run.recorder.stop()
        #expect(run.recorder.end(within: .patience))
        return run
    }

    @Test func gapsAndTheServersRecordingHaveEveryFrame() throws {
        let server = InterruptedServer(connected: [0..<7200, 15_400..<33_000, 43_020..<50_000, 50_000..<57_120])
        let run = try recorded(server, seconds: 60)
        let catalog = try RecordingCatalog(run.folder)
        #expect(catalog.entries.count == 6 && catalog.entries.allSatisfy { $0.condition == .finished })
        let ours = Set(server.frames(until: 60_000))
        var filled = ours
        for (number, entry) in catalog.entries.enumerated() {
            let zero = Duration.seconds(number * 10)
            let writer = try RecordingGapWriter("\(run.folder)/\(entry.file)", target: nil)
            let written = try writer.write(to: run.directory.path)
            func milliseconds(_ ranges: [Range<Duration>]) -> [Int] {
                ranges.flatMap { [$0.lowerBound, $0.upperBound] }.map { Int(($0.inSeconds * 1000).rounded()) }
            }
            #expect(milliseconds(written.map(\.range)) == milliseconds(entry.gaps.flatMap(\.ranges.ranges)))
            for part in written {
                let found = try frames(part.path, from: zero + part.range.lowerBound)
                #expect(found.count == part.frameCount)
                // Whole GOPs, each of which the server lacks in part.
                for second in Set(found.map { $0 / 1000 }) {
                    let gop = stride(from: second * 1000, to: second * 1000 + 1000, by: 40)
                    #expect(gop.allSatisfy(found.contains) && gop.contains { !ours.contains($0) })
                }
                filled.formUnion(found)
            }
        }
        #expect(filled.sorted() == Array(stride(from: 0, to: 60_000, by: 40)))
        let lacking = catalog.entries.map { $0.gaps.reduce(Duration.zero) { $0 + $1.ranges.duration } }
        #expect(lacking[2] == .zero)
    }

    @Test func serverThatHasEverythingLacksNothing() throws {
        let run = try recorded(InterruptedServer(connected: [0..<22_000]), seconds: 22)
        let catalog = try RecordingCatalog(run.folder)
        #expect(catalog.entries.count == 3)
        #expect(catalog.entries.allSatisfy { $0.gaps.map(\.target) == ["studio"] && $0.gaps[0].ranges.isEmpty })
        let writer = try RecordingGapWriter("\(run.folder)/\(catalog.entries[2].file)", target: "studio")
        #expect(try writer.write(to: run.directory.path).isEmpty)
    }

    @Test func targetOfOneFileCountsForAll() throws {
        let run = try recorded(InterruptedServer(connected: [11_000..<12_000]), seconds: 22)
        let catalog = try RecordingCatalog(run.folder)
        let missing = catalog.entries.map { $0.gaps[0].ranges.duration.inSeconds.rounded() }
        #expect(missing == [10, 9, 2])
        #expect(
            catalog.entries.map { $0.start.map { $0 / 1_000_000_000 } } == [
                1_795_700_345, 1_795_700_355, 1_795_700_365,
            ])
        #expect(catalog.entries[0].clockError == .milliseconds(20))
    }

    @Test func otherFilesAreListedAsSuch() throws {
        let run = try recorded(InterruptedServer(connected: []), seconds: 11)
        let whole = try readFile("\(run.folder)/000001_20261126T133905Z.mp4", limit: 1 << 24)
        func write(_ name: String, _ bytes: [UInt8]) throws { try replaceFile("\(run.folder)/\(name)", with: bytes) }
        try write("000003_noclock.mp4", [])
        try write("000004_noclock.mp4", [UInt8](repeating: 0x41, count: 1000))
        try write("000005_noclock.mp4", Array(whole.prefix(whole.count / 2)))
        try write("000006_noclock.mp4", whole.dropLast(4) + [0, 0, 0, 0])
        try write("holiday.mp4", [1, 2, 3])
        try write("notes.txt", [1])
        _ = try #require(mkfifo("\(run.folder)/000007_noclock.mp4", 0o600) == 0)
        let entries = try RecordingCatalog(run.folder).entries
        #expect(
            entries.map { "\($0.file) \($0.condition.name)" } == [
                "000001_20261126T133905Z.mp4 finished", "000002_20261126T133915Z.mp4 finished",
                "000003_noclock.mp4 empty", "000004_noclock.mp4 foreign", "000005_noclock.mp4 unfinished",
                "000006_noclock.mp4 finished", "holiday.mp4 foreign",
            ])
    }

    @Test func recordingsThatWereCutOffAreRepaired() throws {
        let run = try recorded(InterruptedServer(connected: []), seconds: 8)
        let path = "\(run.folder)/000001_20261126T133905Z.mp4"
        let whole = try readFile(path, limit: 1 << 24)
        // The last fragment's end and the index are missing.
        try replaceFile(path, with: Array(whole.prefix(whole.count - 8000)))
        let before = try RecordingCatalog(run.folder).entries
        #expect(before.map(\.condition) == [.unfinished])
        let events = try RecordingRepairs.repair(run.folder)
        let after = try RecordingCatalog(run.folder).entries
        #expect(after.map(\.condition) == [.finished] && after.map(\.duration) == before.map(\.duration))
        guard case .repaired(path, let frameCount, _, _)? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(frameCount % 25 == 0 && (100..<200).contains(frameCount) && events.count == 1)
        #expect(try RecordingRepairs.repair(run.folder).isEmpty)
    }

    @Test func damagedFilesNeverTrap() throws {
        let run = try recorded(InterruptedServer(connected: [0..<3000]), seconds: 8)
        let path = "\(run.folder)/000001_20261126T133905Z.mp4"
        let journal = "\(run.folder)/000001_20261126T133905Z.jsonl"
        let whole = try readFile(path, limit: 1 << 24)
        let lines = try readFile(journal, limit: 1 << 20)
        for place in stride(from: 0, to: whole.count, by: 97) {
            var damaged = whole
            damaged[place] ^= 0xFF
            try replaceFile(path, with: damaged)
            var text = lines
            text[place % text.count] ^= 0x10
            try replaceFile(journal, with: text)
            let catalog = try RecordingCatalog(run.folder)
            #expect(catalog.entries.count == 1 && !RecordingListing.table(catalog).isEmpty)
            _ = RecordingListing.json(catalog)
            _ = try? RecordingGapWriter(path, target: nil)
        }
    }

    @Test func gapsNeedAJournalAndAKnownTarget() throws {
        let run = try recorded(InterruptedServer(connected: [0..<1000]), seconds: 4)
        let path = "\(run.folder)/000001_20261126T133905Z.mp4"
        #expect(throws: RecordingGapError.unknownTarget("other", known: ["studio"])) {
            try RecordingGapWriter(path, target: "other")
        }
        let writer = try RecordingGapWriter(path, target: nil)
        let written = try writer.write(to: run.directory.path)
        #expect(written.map(\.range.lowerBound) == [.seconds(1)] && written.map(\.frameCount) == [75])
        #expect(throws: RecordingGapError.self, "no file is replaced") { try writer.write(to: run.directory.path) }
        unlink("\(run.folder)/000001_20261126T133905Z.jsonl")
        #expect(throws: RecordingGapError.noJournal(path: path)) { try RecordingGapWriter(path, target: nil) }
    }

    @Test func tableFits80Columns() throws {
        let run = try recorded(InterruptedServer(connected: [0..<1000, 3000..<4000]), seconds: 4)
        let text = RecordingListing.table(try RecordingCatalog(run.folder))
        #expect(
            text == """
                recording                    start (UTC)          end           size  state
                000001_20261126T133905Z.mp4  2026-11-26 13:39:05  13:39:09   29.1 kB  finished
                  studio lacks 2.0 s: 1.0-3.0
                1 file, 29.1 kB
                studio lacks 2.0 s in 1 file

                """)
    }
}
