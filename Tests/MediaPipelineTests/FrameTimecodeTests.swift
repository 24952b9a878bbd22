import Bitstream
import Media
import Testing

@testable import Encoding

@Suite struct FrameTimecodeTests {
    private let slice: [UInt8] = [0, 0, 0, 2, 0x65, 0x88]

    private func stamped(_ timecode: FrameTimecode, _ kind: EncodedPacket.Kind, at milliseconds: Int64) -> [UInt8] {
        var packet = EncodedPacket(
            kind: kind, decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: slice)
        timecode.stamp(&packet)
        return packet.payload
    }

    @Test func frameHasTheTimeOfItsCapture() throws {
        let timecode = FrameTimecode { .init(offset: 1_795_700_345_000_000_000, isLocked: true) }
        for kind in [EncodedPacket.Kind.video(isKeyframe: true), .video(isKeyframe: false)] {
            let payload = stamped(timecode, kind, at: 1234)
            let stamp = try #require(PrecisionTimeStamp(nalUnit: payload.dropFirst(4).prefix(Int(payload[3]))))
            #expect(stamp == PrecisionTimeStamp(microseconds: 1_795_700_346_234_000, isLocked: true))
            #expect(payload.suffix(slice.count) == slice[...])
        }
    }

    @Test func nothingIsWrittenIntoHeadersOrWithoutAClock() {
        let timecode = FrameTimecode { .init(offset: 0, isLocked: false) }
        #expect(stamped(timecode, .videoHeader, at: 5) == slice && stamped(timecode, .audio, at: 5) == slice)
        #expect(stamped(FrameTimecode { nil }, .video(isKeyframe: true), at: 5) == slice)
        let early = FrameTimecode { .init(offset: -10_000_000_000, isLocked: true) }
        #expect(stamped(early, .video(isKeyframe: true), at: 5) == slice)
    }
}
