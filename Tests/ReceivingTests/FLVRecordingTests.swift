import Bitstream
import LinuxIO
import MediaTestSupport
import RTMP
import StreamLogic
import Testing

@testable import Receiving

@Suite struct FLVRecordingTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func fileAlwaysContainsWholeTags() throws {
        let path = directory.file("a.flv")
        let recording = try FLVRecording(path: path, overwrites: false)
        for (index, tag) in tags.enumerated() {
            try recording.append(tag)
            #expect(try recordedTags(path).filter { $0.kind != .script } == Array(tags[...index]))
        }
    }

    /// The first tag's properties.
    private func metadata(_ path: String) throws -> [String: AMF0Value] {
        let first = try #require(try recordedTags(path).first)
        let properties = try #require(RecordingTotals.metadata(in: first))
        return Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.value) })
    }

    @Test func durationAndSizeAreWrittenAtTheEnd() throws {
        let path = directory.file("a.flv")
        let recording = try FLVRecording(path: path, overwrites: false)
        for tag in tags { try recording.append(tag) }
        #expect(try metadata(path) == ["duration": .number(0), "filesize": .number(0)], "as after a power cut")
        try recording.finish()
        let size = try readFile(path, limit: 1 << 20).count
        // 20 frames of 20 ms.
        #expect(try metadata(path) == ["duration": .number(0.4), "filesize": .number(Double(size))])
        #expect(try recordedTags(path).filter { $0.kind != .script } == tags)
    }

    @Test func publishersMetadataIsKeptExceptItsTotals() throws {
        let path = directory.file("a.flv")
        let recording = try FLVRecording(path: path, overwrites: false)
        var body: [UInt8] = []
        body.appendAMF0(.string("onMetaData"))
        body.appendAMF0(
            .object([
                AMF0Property("fileSize", .number(7)), AMF0Property("width", .number(640)),
                AMF0Property("duration", .number(9)),
            ]))
        for _ in 0..<2 {
            try recording.append(FLVTag(kind: .script, timestamp: 0, body: body))
            for tag in tags.prefix(2) { try recording.append(tag) }
        }
        try recording.finish()
        let found = try recordedTags(path).filter { $0.kind == .script }.map { RecordingTotals.metadata(in: $0) ?? [] }
        #expect(found.map { $0.map(\.name) } == [["duration", "filesize", "width"], ["width"]])
    }

    @Test(arguments: [UInt32(0), 5000, UInt32.max - 100])
    func durationCountsFromTheFirstTag(start: UInt32) throws {
        let path = directory.file("a.flv")
        let recording = try FLVRecording(path: path, overwrites: false)
        for number in 0..<10 {
            for (kind, step) in [(FLVTag.Kind.video, UInt32(40)), (.audio, 23)] {
                let body: [UInt8] = kind == .video ? [0x27, 1, 0, 0, 0, 9] : [0xAF, 1, 9]
                try recording.append(FLVTag(kind: kind, timestamp: start &+ UInt32(number) * step, body: body))
            }
        }
        try recording.finish()
        #expect(try metadata(path)["duration"] == .number(0.4))
    }

    @Test func existingFileIsNotReplacedUnasked() throws {
        let path = directory.file("a.flv")
        try replaceFile(path, with: Array("precious".utf8))
        func text(_ run: () throws -> Void) -> String? {
            do {
                try run()
                return nil
            } catch {
                return (error as? StreamFailure)?.text
            }
        }
        #expect(text { try FLVRecording.check(path: path, overwrites: false) }?.contains("--overwrite") == true)
        #expect(text { _ = try FLVRecording(path: path, overwrites: false) }?.contains("File exists") == true)
        #expect(try readFile(path, limit: 100) == Array("precious".utf8))
        let empty = directory.file("empty.flv")
        try replaceFile(empty, with: [])
        try FLVRecording.check(path: empty, overwrites: false)
        _ = try FLVRecording(path: empty, overwrites: false)
    }

    @Test func earlierRecordingIsReplacedOnlyByAnotherOne() throws {
        let path = directory.file("a.flv")
        try FLVRecording(path: path, overwrites: true).append(tags[0])
        try FLVRecording.check(path: path, overwrites: true)
        #expect(try recordedTags(path).last == tags[0])
        try FLVRecording(path: path, overwrites: true).append(tags[1])
        #expect(try recordedTags(path).filter { $0.kind != .script } == [tags[1]])
    }

    @Test func unwritablePathsAreExplained() throws {
        func text(_ path: String) -> String? {
            do {
                try FLVRecording(path: path, overwrites: false).append(tags[0])
                return nil
            } catch {
                return (error as? StreamFailure).map { $0.kind == .recording ? $0.text : "" }
            }
        }
        #expect(text("/dev/full")?.contains("free some space") == true)
        #expect(text(directory.file("none/a.flv"))?.contains("make the directory") == true)
        #expect(text(directory.path)?.contains("name a file in it") == true)
        // It has no reader, and opening must not wait for one.
        #expect(text(try directory.makeFIFO("pipe"))?.contains("it is a pipe") == true)
        #expect(throws: StreamFailure.self) {
            try FLVRecording.check(path: directory.file("none/a.flv"), overwrites: false)
        }
    }
}
