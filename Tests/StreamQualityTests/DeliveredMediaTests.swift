import Media
import StreamQuality
import Testing

@Suite struct DeliveredMediaTests {
    private func frame(_ milliseconds: Int64, isKeyframe: Bool = false) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: [1])
    }

    private func range(_ start: Int64, _ end: Int64) -> Range<MediaTimestamp> {
        MediaTimestamp(milliseconds: start)..<MediaTimestamp(milliseconds: end)
    }

    /// Hands out frames 40 ms apart, 100 bytes each.
    private func handOut(
        _ times: [Int64], to media: inout DeliveredMedia, from byteCount: Int = 0, on connection: Int = 1
    ) {
        for (index, time) in times.enumerated() {
            media.handedOut(frame(time), endByteCount: byteCount + 100 * (index + 1), on: connection)
        }
    }

    @Test func framesCountOnceTheirLastByteHasArrived() {
        var media = DeliveredMedia(hasVideo: true)
        handOut([0, 40, 80, 120], to: &media)
        media.delivered(byteCount: 299, on: 1)
        let first = media.take()
        #expect(first == [range(0, 80)])
        media.delivered(byteCount: 300, on: 1)
        let second = media.take()
        #expect(second == [range(40, 120)])
        let nothing = media.take()
        #expect(nothing == [], "what was told already is not told again")
        media.delivered(byteCount: 400, on: 1)
        let third = media.take()
        #expect(third == [range(80, 160)])
    }

    @Test func droppedFramesLeaveAGap() {
        var media = DeliveredMedia(hasVideo: true)
        handOut([0, 40], to: &media)
        let item = DroppedItem(
            kind: .video(isKeyframe: false), decodeTime: MediaTimestamp(milliseconds: 80), byteCount: 1,
            reason: .bufferFull)
        media.dropped([item])
        handOut([2000, 2040], to: &media, from: 200)
        media.delivered(byteCount: 400, on: 1)
        let ranges = media.take()
        #expect(ranges == [range(0, 80), range(2000, 2080)])
    }

    @Test func whatWasOnItsWayIsLostWithTheConnection() {
        var media = DeliveredMedia(hasVideo: true)
        handOut([0, 40, 80], to: &media)
        media.delivered(byteCount: 200, on: 1)
        media.connectionLost()
        media.delivered(byteCount: 300, on: 1)
        handOut([4000, 4040, 4080], to: &media, on: 2)
        media.delivered(byteCount: 300, on: 1)
        media.delivered(byteCount: 200, on: 2)
        let ranges = media.take()
        #expect(ranges == [range(0, 80), range(4000, 4080)], "each connection counts its own bytes")
    }

    @Test func whatIsOnItsWayArrivesWhenTheServerAskedForAnotherConnection() {
        var media = DeliveredMedia(hasVideo: true)
        handOut([0, 40, 80], to: &media, from: 5000)
        media.delivered(byteCount: 5100, on: 1)
        handOut([120, 160], to: &media, on: 2)
        media.delivered(byteCount: 100, on: 2)
        let ranges = media.take()
        #expect(ranges == [range(0, 160)])
    }

    @Test func audioDoesNotCountBesideVideo() {
        var media = DeliveredMedia(hasVideo: true)
        let audio = EncodedPacket(kind: .audio, decodeTime: .zero, payload: [1])
        media.handedOut(audio, endByteCount: 50, on: 1)
        media.delivered(byteCount: 50, on: 1)
        let nothing = media.take()
        #expect(nothing.isEmpty)
        var alone = DeliveredMedia(hasVideo: false)
        alone.handedOut(audio, endByteCount: 50, on: 1)
        alone.handedOut(
            EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 20), payload: [1]), endByteCount: 100,
            on: 1)
        alone.delivered(byteCount: 100, on: 1)
        let ranges = alone.take()
        #expect(ranges == [range(0, 40)])
    }
}
