import Media
import Testing

@testable import RecordingLogic

@Suite struct RecordingNameTests {
    @Test func nameIsTheNumberAndTheTimeInUTC() {
        let name = RecordingName(number: 123, secondsSince1970: 1_795_700_345)
        #expect(name.file == "000123_20261126T133905Z.mp4" && name.journal == "000123_20261126T133905Z.jsonl")
        #expect(RecordingName(name.file) == name && RecordingName(journal: name.journal) == name)
        let unset = RecordingName(number: 7, secondsSince1970: nil)
        #expect(unset.file == "000007_noclock.mp4" && RecordingName(unset.file) == unset)
    }

    @Test(arguments: [
        "holiday.mp4", "000123_20261126T133905Z.mp4.part", "000123.mp4", "12_noclock.mp4", "00012x_noclock.mp4",
        "000123_../../etc.mp4", "000123_20261126T133905Z_2.mp4", ".mp4", "_.mp4", "9999999999_noclock.mp4",
    ])
    func otherNamesAreNotRecordings(name: String) { #expect(RecordingName(name) == nil) }

    /// The characters that FAT and exFAT forbid, and its length limit.
    @Test func everyFileSystemTakesTheName() {
        for name in [
            RecordingName(number: 999_999_999, secondsSince1970: 9_000_000_000),
            RecordingName(number: 1, secondsSince1970: nil),
        ] {
            #expect(name.journal.utf8.count <= 100)
            #expect(name.file.utf8.allSatisfy { !"<>:\"/\\|?* ".utf8.contains($0) && $0 > 0x20 && $0 < 0x7F })
        }
    }

    @Test func numberOrdersWhateverTheClockDoes() {
        let folder = RecordingFolder(
            [(3, 100), (1, 300), (2, nil)].map { .init(RecordingName(number: $0, secondsSince1970: $1), byteCount: 1) })
        #expect(folder.files.map(\.name.number) == [1, 2, 3])
        #expect(folder.nextName(secondsSince1970: 5).number == 4)
        #expect(RecordingFolder([]).nextName(secondsSince1970: 5).number == 1)
    }
}

@Suite struct RecordingFolderTests {
    private let folder = RecordingFolder(
        (1...4).map { .init(RecordingName(number: $0, secondsSince1970: nil), byteCount: 10_000_000) })

    private func space(free: Int, of total: Int = 1_000_000_000) -> RecordingFolder.Space {
        RecordingFolder.Space(byteCount: total, freeByteCount: free)
    }

    private func surplus(
        _ folder: RecordingFolder, before byteCount: Int = 1_000_000, _ space: RecordingFolder.Space,
        open: Int? = nil, _ settings: RecordingSettings = RecordingSettings()
    ) -> [Int]? {
        let open = open.map { RecordingName(number: $0, secondsSince1970: nil) }
        return folder.surplus(before: byteCount, on: space, open: open, settings: settings)?.map(\.number)
    }

    @Test func nothingGoesWhileThereIsRoom() { #expect(surplus(folder, space(free: 500_000_000)) == []) }

    @Test func oldestGoesFirstWhenTheShareIsFull() {
        #expect(surplus(folder, space(free: 500_000_000), RecordingSettings(share: 3)) == [1, 2])
        #expect(surplus(folder, space(free: 500_000_000), RecordingSettings(share: 3, keepsAll: true)) == nil)
        #expect(surplus(folder, before: 50_000_000, space(free: 500_000_000), RecordingSettings(share: 3)) == nil)
    }

    @Test func othersOnTheDiskKeepTheirReserve() {
        #expect(surplus(folder, space(free: RecordingFolder.reserve + 1_000_000)) == [])
        #expect(surplus(folder, space(free: RecordingFolder.reserve)) == [1])
        #expect(surplus(folder, space(free: 5_000_000)) == [1, 2, 3])
        #expect(surplus(folder, space(free: 0), open: 1) == nil)
    }

    @Test func minutesLimitAllRecordings() {
        #expect(surplus(folder, space(free: 500_000_000), RecordingSettings(minutes: 5)) == [])
        #expect(surplus(folder, space(free: 500_000_000), RecordingSettings(minutes: 3)) == [1, 2])
        // The open file counts already.
        #expect(surplus(folder, space(free: 500_000_000), open: 4, RecordingSettings(minutes: 3)) == [1])
        #expect(
            surplus(folder, space(free: 500_000_000), RecordingSettings(length: .seconds(3600), minutes: 1)) == [
                1, 2, 3, 4,
            ])
        var short = folder
        for file in folder.files {
            short.changed(.init(file.name, byteCount: 10, duration: .seconds(10)))
        }
        #expect(surplus(short, space(free: 500_000_000), RecordingSettings(minutes: 1)) == [1, 2, 3, 4])
        #expect(surplus(short, space(free: 500_000_000), RecordingSettings(minutes: 2)) == [])
    }

    @Test func settingsAreKeptWithinTheirRanges() {
        let settings = RecordingSettings(length: .zero, minutes: 0, share: 100)
        #expect(settings == RecordingSettings(length: .seconds(10), minutes: 1, share: 95))
        #expect(RecordingSettings(length: .seconds(86_400)).length == .seconds(3600))
    }
}

@Suite struct RecordingJournalTests {
    private let first = RecordingName(number: 1, secondsSince1970: nil)
    private let second = RecordingName(number: 2, secondsSince1970: nil)

    private func range(_ start: Int64, _ end: Int64) -> Range<MediaTimestamp> {
        MediaTimestamp(milliseconds: start)..<MediaTimestamp(milliseconds: end)
    }

    private func seconds(_ start: Int, _ end: Int) -> Range<Duration> { .seconds(start)..<(.seconds(end)) }

    /// The end of a file is known to about a second.
    @Test func nextFileEndsTheOneBefore() {
        var journal = RecordingJournal()
        journal.fileStarted(first, at: .zero)
        journal.fileEnded(at: MediaTimestamp(milliseconds: 61_000))
        journal.fileStarted(second, at: MediaTimestamp(milliseconds: 60_000))
        _ = journal.acknowledged(by: "a", range(60_000, 63_000))
        let lines = journal.flush()
        #expect(lines == [.init(file: second, entry: .acknowledged(target: "a", seconds(0, 3)))])
    }

    @Test func lateAcknowledgmentGoesToTheFilesThatItIsIn() {
        var journal = RecordingJournal()
        journal.fileStarted(first, at: MediaTimestamp(milliseconds: 1000))
        journal.fileEnded(at: MediaTimestamp(milliseconds: 61_000))
        journal.fileStarted(second, at: MediaTimestamp(milliseconds: 61_000))
        var lines = journal.acknowledged(by: "a", range(0, 30_000))
        lines += journal.acknowledged(by: "a", range(30_000, 63_000))
        lines += journal.acknowledged(by: "b", range(62_000, 63_000))
        #expect(lines.isEmpty)
        lines = journal.acknowledged(by: "a", range(64_000, 65_000))
        #expect(
            lines == [
                .init(file: first, entry: .acknowledged(target: "a", seconds(0, 60))),
                .init(file: second, entry: .acknowledged(target: "a", seconds(0, 2))),
            ])
        lines = journal.flush()
        #expect(
            lines == [
                .init(file: second, entry: .acknowledged(target: "a", seconds(3, 4))),
                .init(file: second, entry: .acknowledged(target: "b", seconds(1, 2))),
            ])
        let nothing = journal.flush()
        #expect(nothing.isEmpty)
    }

    @Test func markIsInTheFileThatIsRecorded() {
        var journal = RecordingJournal()
        #expect(journal.mark("goal", at: .zero) == nil)
        journal.fileStarted(first, at: MediaTimestamp(milliseconds: 1000))
        #expect(
            journal.mark("goal", at: MediaTimestamp(milliseconds: 3000))
                == .init(file: first, entry: .mark(text: "goal", at: .seconds(2))))
        journal.fileEnded(at: MediaTimestamp(milliseconds: 4000))
        #expect(journal.mark("goal", at: MediaTimestamp(milliseconds: 5000)) == nil)
    }

    @Test func gapsAreWholeGOPs() {
        let contents = RecordingJournalContents([
            .start(nanosecondsSince1970: 5, clockError: nil), .acknowledged(target: "a", seconds(0, 5)),
            .acknowledged(target: "a", seconds(4, 7)), .acknowledged(target: "a", seconds(9, 20)),
            .mark(text: "goal", at: .seconds(3)),
        ])
        let keyframes = stride(from: 0, to: 24, by: 2).map { Duration.seconds($0) }
        #expect(
            contents.gaps(of: "a", keyframes: keyframes, end: .seconds(23)).ranges == [seconds(6, 10), seconds(20, 23)])
        #expect(contents.gaps(of: "b", keyframes: keyframes, end: .seconds(23)).ranges == [seconds(0, 23)])
        #expect(contents.gaps(of: "a", keyframes: keyframes, end: .zero).isEmpty)
        #expect(contents.nanosecondsSince1970 == 5 && contents.marks.map(\.text) == ["goal"])
    }

    @Test func rangesThatTouchBecomeOne() {
        var ranges = TimeRanges([seconds(4, 6), seconds(0, 1), seconds(8, 9)])
        #expect(ranges.ranges == [seconds(0, 1), seconds(4, 6), seconds(8, 9)])
        ranges.insert(seconds(6, 8))
        ranges.insert(seconds(3, 3))
        #expect(ranges.ranges == [seconds(0, 1), seconds(4, 9)] && ranges.duration == .seconds(6))
        #expect(ranges.missing(in: seconds(0, 12)).ranges == [seconds(1, 4), seconds(9, 12)])
        #expect(ranges.missing(in: seconds(5, 8)).isEmpty)
        ranges.insert(seconds(0, 20))
        #expect(ranges.ranges == [seconds(0, 20)])
    }
}

@Suite struct RecordingSessionTests {
    private var session = RecordingSession()
    private let full = RecordingFailure(.noSpace, "write /r: No space left on device (ENOSPC)")

    private func time(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: seconds * 1000) }

    @Test mutating func recordingOpensTheFolderFirst() {
        let start = session.started()
        #expect(start == [.report(.opening), .open])
        let again = session.started()
        #expect(again.isEmpty)
        let opened = session.opened(now: time(1))
        #expect(opened == [.start, .report(.recording)])
        let stopped = session.stopped()
        #expect(stopped == [.stop, .report(.off)] && session.nextTime == nil)
    }

    @Test mutating func failureIsSaidOnceAndRetriedMoreAndMoreSeldom() {
        _ = session.started()
        var waits: [Int64] = []
        var reports: [RecordingSession.Action] = []
        var now = time(100)
        for _ in 0..<6 {
            reports += session.failed(full, now: now)
            waits.append(((session.nextTime ?? now) - now).components.seconds)
            now = session.nextTime ?? now
            let early = session.timePassed(now: now - .milliseconds(1))
            let due = session.timePassed(now: now)
            #expect(early.isEmpty && due == [.open])
        }
        #expect(waits == [5, 10, 20, 40, 60, 60] && reports == [.report(.failed(full))])
        let works = session.opened(now: now)
        #expect(works == [.start, .report(.recording)])
        // It has worked for a minute: the next failure is new.
        let failed = session.failed(full, now: now + .seconds(61))
        #expect(failed == [.stop, .report(.failed(full))])
        #expect(session.nextTime == now + .seconds(66))
    }

    @Test mutating func missingDiskIsAwaited() {
        let missing = RecordingFailure(.missing, "mkdir /media/usb/r: No such file or directory (ENOENT)")
        _ = session.started()
        let failed = session.failed(missing, now: time(1))
        #expect(failed == [.report(.waitingForDisk(missing))])
        let appeared = session.diskChanged()
        #expect(appeared == [.open])
        let opened = session.opened(now: time(2))
        #expect(opened == [.start, .report(.recording)])
        let changed = session.diskChanged()
        #expect(changed.isEmpty)
    }

    @Test mutating func nothingHappensWhileOff() {
        let actions =
            session.failed(full, now: time(1)) + session.opened(now: time(1)) + session.stopped()
            + session.diskChanged() + session.timePassed(now: time(9))
        #expect(actions.isEmpty)
    }
}
