import Bitstream
import FuzzDriver
import Media

@main enum FuzzMP4 {
    static func main() { fuzz(testOneInput) }
}

/// An MP4 file in memory: its table of contents, wherever it is among the other boxes.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard let contents = contents(of: bytes),
        let movie = try? MP4Movie(parsing: contents, fileByteCount: bytes.count)
    else { return 0 }
    let tracks = [movie.video, movie.audio].compactMap { $0 }
    for track in tracks { check(track, fileByteCount: bytes.count) }
    precondition(movie.duration == tracks.map(\.end).max() ?? .zero, "the movie does not end with a track")
    precondition(movie.video == nil || movie.otherVideo == nil, "two kinds of video")
    precondition(movie.audio == nil || movie.otherAudio == nil, "two kinds of audio")
    return 0
}

private func contents(of bytes: [UInt8]) -> [UInt8]? {
    var rest = bytes[...]
    while rest.count >= 8 {
        guard let header = try? MP4BoxHeader(parsing: Array(rest.prefix(MP4BoxHeader.longest))) else { return nil }
        rest = rest.dropFirst(header.headerByteCount)
        let length = header.contentByteCount ?? rest.count
        precondition(length >= 0, "a box of a negative length")
        guard length <= rest.count else { return nil }
        if header.type == "moov" { return Array(rest.prefix(length)) }
        rest = rest.dropFirst(length)
    }
    return nil
}

private func check(_ track: MP4Track, fileByteCount: Int) {
    precondition(track.timescale > 0 && track.start >= .zero && track.end >= track.start, "times of a track")
    var count = 0
    var last: MP4Sample?
    for sample in track.samples {
        count += 1
        precondition(sample.offset >= 0 && sample.byteCount >= 0, "a sample before the file")
        precondition(sample.offset + sample.byteCount <= fileByteCount, "a sample behind the file")
        precondition(sample.decodeTime >= last?.decodeTime ?? 0, "samples are not in the order of decoding")
        precondition(sample.time <= track.samples.end, "a sample behind the end")
        _ = track.time(of: sample)
        last = sample
    }
    precondition(count == track.samples.count, "samples are missing")
    precondition(track.samples.duration >= last?.decodeTime ?? 0 && track.sampleRate >= 0)
}
