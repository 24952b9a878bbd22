import Bitstream
import LinuxIO
import MediaTestSupport
import StreamLogic
import Testing

@testable import Receiving

@Suite struct FLVRecordingTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func readTags(_ path: String) throws -> [FLVTag] {
        let bytes = try readFile(path, limit: 1 << 20)
        var reader = FLVReader()
        var position = 0
        _ = try reader.append(upTo: bytes.count) { room in
            let count = min(room.count, bytes.count - position)
            room.copyBytes(from: bytes[position..<position + count])
            position += count
            return count
        }
        var tags: [FLVTag] = []
        while let tag = try reader.nextTag() { tags.append(tag) }
        try reader.inputEnded()
        return tags
    }

    @Test func theFileHoldsTheTagsAtEachMoment() throws {
        let path = directory.file("a.flv")
        let recording = try FLVRecording(path: path)
        for (index, tag) in tags.enumerated() {
            try recording.append(tag)
            #expect(try readTags(path) == Array(tags[...index]))
        }
    }

    @Test func anEarlierRecordingIsReplacedOnlyByAnother() throws {
        let path = directory.file("a.flv")
        try FLVRecording(path: path).append(tags[0])
        try FLVRecording.check(path: path)
        #expect(try readTags(path) == [tags[0]])
        try FLVRecording(path: path).append(tags[1])
        #expect(try readTags(path) == [tags[1]])
    }

    @Test func whatCannotBeWrittenIsSaidWithAdvice() throws {
        func text(_ path: String) -> String? {
            do {
                try FLVRecording(path: path).append(tags[0])
                return nil
            } catch {
                return (error as? StreamFailure).map { $0.kind == .recording ? $0.text : "" }
            }
        }
        #expect(text("/dev/full")?.contains("free some space") == true)
        #expect(text(directory.file("none/a.flv"))?.contains("make the directory") == true)
        #expect(text(directory.path)?.contains("name a file in it") == true)
        // Nobody reads it, and nobody waits for somebody to.
        #expect(text(try directory.makeFIFO("pipe"))?.contains("it is a pipe") == true)
        #expect(throws: StreamFailure.self) { try FLVRecording.check(path: directory.file("none/a.flv")) }
    }
}
