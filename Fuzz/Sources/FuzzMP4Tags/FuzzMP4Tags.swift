import Bitstream
import FuzzDriver
import Media

@main enum FuzzMP4Tags {
    static func main() { fuzz(testOneInput) }
}

/// A whole MP4 file, plain or fragmented, as it is published: its contents, then its samples as FLV tags.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let read = { (offset: Int, count: Int) throws(Never) -> [UInt8] in
        precondition(offset >= 0 && count >= 0 && offset + count <= bytes.count, "read beyond the file")
        return Array(bytes[offset..<offset + count])
    }
    guard let movie = try? MP4Movie(byteCount: count, read: read), var tags = try? MP4TagSequence(movie) else {
        return 0
    }
    precondition(tags.headers.allSatisfy(\.isSequenceHeader) && (1...2).contains(tags.headers.count), "headers")
    var counts: [FLVTag.Kind: Int] = [:]
    var latest: [FLVTag.Kind: UInt32] = [:]
    while let item = tags.next() {
        let payload = read(item.sample.offset, item.sample.byteCount)
        let tag = item.tag(payload)
        precondition(tag.body.suffix(payload.count) == payload[...], "a sample changed on its way")
        precondition(tag.timestamp >= latest[tag.kind] ?? 0, "a track's times go back")
        latest[tag.kind] = tag.timestamp
        counts[tag.kind, default: 0] += 1
    }
    let frames = movie.video?.samples.count ?? 0
    precondition(counts[.video] ?? 0 <= frames && counts[.video] ?? 0 > 0, "frames appeared or are missing")
    precondition(counts[.audio] ?? 0 <= movie.audio?.samples.count ?? 0, "audio appeared")
    return 0
}
