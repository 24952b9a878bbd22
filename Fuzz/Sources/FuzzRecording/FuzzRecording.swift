import Bitstream
import FuzzDriver
import Media

@main enum FuzzRecording {
    static func main() { fuzz(testOneInput) }
}

/// A recording that did not close, or any other file: repaired in memory.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var file = Array(UnsafeBufferPointer(start: data, count: count))
    guard case .unfinished(let repair) = condition(of: file) else { return 0 }
    precondition(repair.frameCount + repair.audioPacketCount > 0, "a repair without media")
    precondition(repair.duration >= .zero && (0...count).contains(repair.lostByteCount))
    let media = file.prefix(count - repair.lostByteCount)
    for step in repair.steps { perform(step, &file) }
    precondition(condition(of: file) == .finished, "the repair has not finished the file")
    precondition(file[48..<media.count] == media[48...], "the repair has changed media")
    check(file, repair)
    return 0
}

private func condition(of file: [UInt8]) -> MP4RecordingCondition {
    MP4RecordingCondition(byteCount: file.count) { offset, count throws(Never) in
        precondition(offset >= 0 && count >= 0 && offset + count <= file.count, "read beyond the file")
        return Array(file[offset..<offset + count])
    }
}

private func perform(_ step: MP4FileStep, _ file: inout [UInt8]) {
    switch step {
    case .synchronize: break
    case .truncate(let length):
        precondition((1..<file.count).contains(length), "nothing is cut off")
        file.removeSubrange(length...)
    case .write(let pieces, let offset):
        let bytes = pieces.flatMap { $0 }
        precondition(offset == file.count || offset == 32 && bytes.count == 16, "a write over media")
        if offset == file.count { file += bytes } else { file.replaceSubrange(32..<48, with: bytes) }
    }
}

private func check(_ file: [UInt8], _ repair: MP4RecordingRepair) {
    var offset = 0
    while let header = try? MP4BoxHeader(parsing: Array(file[offset...].prefix(MP4BoxHeader.longest))) {
        let start = offset + header.headerByteCount
        let end = start + (header.contentByteCount ?? 0)
        if header.type == "moov" {
            guard let movie = try? MP4Movie(parsing: Array(file[start..<end]), fileByteCount: file.count) else {
                preconditionFailure("the index cannot be read")
            }
            precondition(movie.video?.samples.count ?? 0 == repair.frameCount, "frames are missing")
            precondition(movie.audio?.samples.count ?? 0 == repair.audioPacketCount, "audio is missing")
            return
        }
        offset = end
    }
    preconditionFailure("no index")
}
