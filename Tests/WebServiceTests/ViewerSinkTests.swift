import Bitstream
import Encoding
import LinuxIO
import Media
import MediaTestSupport
import StreamQuality
import Synchronization
import Testing

@testable import WebService

@Suite struct ViewerSinkTests {
    private typealias Script = PreviewScript

    private let sink: ViewerSink

    init() throws { sink = try ViewerSink() }

    /// Appends one after the other, as a hub does.
    /// - Returns: how often a keyframe was requested.
    @discardableResult
    private func bring(_ packets: [EncodedPacket]) -> Int {
        var requestCount = 0
        for packet in packets {
            let events = sink.append([packet], now: packet.decodeTime)
            requestCount += events.count { $0 == .keyframeNeeded }
            sink.wake(events)
        }
        return requestCount
    }

    private func bringHeaders(level: UInt8 = 30, hasAudio: Bool = true) {
        bring([Script.videoHeader(level: level)] + (hasAudio ? [Script.audioHeader] : []))
    }

    private var hasWoken: Bool { sink.wakeup.isSignaled(until: .zero) }

    @Test func withoutViewersNothingIsKeptOrRequested() {
        bringHeaders()
        #expect(bring((0..<100).flatMap { [Script.frame($0), Script.audio($0)] }) == 0)
        #expect(!hasWoken && sink.takeAll().isEmpty)
        sink.mediaEnded()
        sink.wake([])
        #expect(!hasWoken && sink.takeAll().isEmpty)
    }

    @Test func viewerThatComesInMidGOPGetsAKeyframeAtOnce() {
        bringHeaders()
        bring((0..<10).map { Script.frame($0, isKeyframe: $0 == 0) })
        sink.open()
        #expect(bring([Script.audio(10), Script.frame(11), Script.audio(11), Script.frame(12)]) == 1)
        #expect(sink.takeAll().isEmpty)
        bring([Script.frame(13, isKeyframe: true)])
        #expect(hasWoken)
        #expect(sink.takeAll().symbols == "S1e K")
        bring([Script.audio(13)])
        #expect(sink.takeAll().symbols == "a")
        bring([Script.audio(14), Script.frame(14), Script.frame(15), Script.audio(15)])
        #expect(sink.takeAll().symbols == "f f a")
        #expect(!hasWoken)
    }

    /// The encoder may skip the frame that should be a keyframe.
    @Test func keyframeThatDoesNotComeIsRequestedAgain() {
        bringHeaders()
        sink.open()
        #expect(bring((0..<60).map { Script.frame($0) }) == 3)
    }

    @Test func otherHeadersNeedAnotherStart() {
        bringHeaders()
        sink.open()
        bring([Script.frame(0, isKeyframe: true), Script.frame(1)])
        sink.epochStarted()
        bringHeaders(level: 31)
        bring([Script.frame(2, isKeyframe: true), Script.audio(2), Script.frame(3)])
        #expect(sink.takeAll().symbols == "S1e K f S1f K f")
    }

    @Test func headerThatNoKeyframeFollowsAsksForOne() {
        bringHeaders(hasAudio: false)
        sink.open()
        bring([Script.frame(0, isKeyframe: true)])
        #expect(sink.takeAll().symbols == "S1e K")
        #expect(bring([Script.audioHeader, Script.frame(1)]) == 0)
        #expect(sink.takeAll().isEmpty)
        #expect(bring([Script.frame(2)]) == 1)
        bring([Script.frame(3, isKeyframe: true), Script.audio(3)])
        #expect(sink.takeAll().symbols == "S1e K a")
    }

    @Test func streamWithoutAudioMayPause() {
        bringHeaders(hasAudio: false)
        sink.open()
        bring([Script.frame(0, isKeyframe: true), Script.frame(1)])
        #expect(sink.takeAll().symbols == "S1e K f")
        #expect(bring([Script.frame(200), Script.frame(201)]) == 0)
        #expect(sink.takeAll().symbols == "f f")
    }

    @Test func viewerHearsNothingBeforeTheFirstFrame() {
        bringHeaders()
        sink.open()
        bring((0..<20).map { Script.audio($0) })
        #expect(sink.takeAll().isEmpty)
        bring([Script.frame(20, isKeyframe: true), Script.audio(20)])
        #expect(sink.takeAll().symbols == "S1e K a")
    }

    /// Two seconds; one second waits at most.
    @Test func takerThatIsTooSlowLosesPacketsUpToAKeyframe() {
        bringHeaders()
        sink.open()
        let packets = (0..<51).flatMap { [Script.frame($0, isKeyframe: $0 % 25 == 0), Script.audio($0)] }
        #expect(bring(packets) >= 1)
        let messages = sink.takeAll().symbols
        #expect(messages.hasPrefix("S1e K") && messages.count { $0 == "f" } <= 25)
        bring([Script.frame(52), Script.frame(53, isKeyframe: true)])
        #expect(sink.takeAll().symbols.hasSuffix("K"))
    }

    @Test func endIsToldOnceAndTheNextStreamStartsAnew() {
        bringHeaders()
        sink.open()
        bring([Script.frame(0, isKeyframe: true)])
        #expect(sink.takeAll().symbols == "S1e K")
        bring([Script.frame(1)])
        sink.mediaEnded()
        sink.mediaEnded()
        sink.wake([])
        #expect(hasWoken)
        #expect(sink.takeAll().symbols == "E")
        sink.mediaEnded()
        #expect(sink.takeAll().isEmpty)
        bringHeaders()
        bring([Script.frame(100, isKeyframe: true)])
        #expect(sink.takeAll().symbols == "S1e K")
    }

    @Test func endAndNextStreamAreTakenTogether() {
        bringHeaders()
        sink.open()
        bring([Script.frame(0, isKeyframe: true), Script.frame(1)])
        sink.mediaEnded()
        bringHeaders(level: 31)
        bring([Script.frame(100, isKeyframe: true)])
        #expect(sink.takeAll().symbols == "E S1f K")
    }

    @Test func closedSinkForgetsWhatWaitsAndOpensAgain() {
        bringHeaders()
        sink.open()
        bring([Script.frame(0, isKeyframe: true)])
        sink.close()
        #expect(!hasWoken && sink.takeAll().isEmpty)
        #expect(bring([Script.frame(1)]) == 0)
        sink.open()
        #expect(bring([Script.frame(2)]) == 1)
        bring([Script.frame(3, isKeyframe: true)])
        #expect(sink.takeAll().symbols == "S1e K")
    }

    @Test func timeGoesOnFromStreamToStream() throws {
        var times: [UInt64] = []
        sink.open()
        for stream in 0..<3 {
            bringHeaders()
            bring([Script.frame(100 * stream, isKeyframe: true)])
            for case .fragment(let bytes, _) in sink.takeAll() {
                // moof, mfhd, traf, tfhd, tfdt: the version's byte is 1.
                let place = 8 + 16 + 8 + 16 + 12
                times.append(bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) })
            }
            sink.mediaEnded()
        }
        let hour: UInt64 = 3600 * 90_000
        #expect(times == [hour, hour + 360_000, hour + 720_000])
    }

    /// A real hub, whose encoder answers requests.
    @Test func hubAsksTheEncoderForViewers() throws {
        let time = VirtualTime()
        try time.run {
            let requests = Mutex(0)
            let hub = PacketHub(tracks: 2) { requests.withLock { $0 += 1 } }
            hub.mediaStarted(at: Script.start)
            hub.append([Script.videoHeader()])
            hub.append([Script.audioHeader])
            hub.add(sink)
            hub.append([Script.frame(0, isKeyframe: true)])
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(2))
            hub.append([Script.frame(50)])
            #expect(requests.withLock { $0 } == 0)
            sink.open()
            hub.append([Script.frame(51)])
            #expect(requests.withLock { $0 } == 1)
            hub.append([Script.frame(52, isKeyframe: true)])
            #expect(sink.takeAll().symbols == "S1e K")
            // A second viewer comes. Requests of sinks that do not lead are collected for a second.
            sink.requestKeyframe()
            hub.append([Script.frame(53)])
            #expect(requests.withLock { $0 } == 1)
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            hub.append([Script.frame(78)])
            #expect(requests.withLock { $0 } == 2)
            hub.trackEnded()
            hub.trackEnded()
            #expect(sink.takeAll().symbols == "E")
        }
    }
}
