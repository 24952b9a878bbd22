import Media
import Testing

@testable import USBVideo

@Suite struct OfferTests {
    @Test(arguments: [(1024, 1, 8_096_000), (3072, 1, 24_480_000), (1024, 4, 1_012_000)])
    func busCarriesItsPacketsWithoutTheirHeaders(packet: Int, interval: Int, bytesPerSecond: Int) {
        #expect(IsochronousBudget(packetBytes: packet, interval: interval).bytesPerSecond == bytesPerSecond)
    }

    @Test func statesAreWrittenForPeople() {
        let mode = VideoOffer(on: IsochronousBudget()).formats[0].modes[2]
        let choice = VideoChoice(mode: mode, interval: mode.usualInterval)
        #expect("\(WebcamState.notAttached)" == "no computer")
        #expect("\(WebcamState.attached(.high))" == "a computer at high speed, idle")
        #expect("\(WebcamState.active(.high, choice))" == "mjpeg 1280x720 at 30.0 fps, high speed")
    }

    @Test func valuesAreClampedToTheBus() {
        #expect(
            IsochronousBudget(packetBytes: 100_000, interval: 99) == IsochronousBudget(packetBytes: 3072, interval: 16))
        #expect(IsochronousBudget(packetBytes: -1, interval: 0) == IsochronousBudget(packetBytes: 1, interval: 1))
    }

    @Test func fullSpeedBusCountsMilliseconds() {
        let (each, eighth) = (IsochronousBudget(packetBytes: 2048), IsochronousBudget(packetBytes: 1024, interval: 4))
        #expect(each.carried(at: .full).bytesPerSecond == 1_011_000)
        #expect(eighth.carried(at: .full).bytesPerSecond == 126_375)
        #expect(each.carried(at: .high) == each)
    }

    @Test func oversizedJPEGLowersTheQualityAtOnce() {
        var quality = JPEGQuality(largest: 100_000, room: 100_000)
        let first = quality.value
        #expect(!quality.adapt(toByteCount: 400_000) && quality.value <= first / 4)
        #expect(quality.adapt(toByteCount: 40_000) && quality.value == 21)
        #expect(quality.adapt(toByteCount: 70_000) && quality.value == 21)
    }

    /// On a full-speed bus, such files arrive as slowly as raw frames, which is better than not at all.
    @Test func largeJPEGIsSentOnceQualityIsAtItsMinimum() {
        var quality = JPEGQuality(largest: 31_000, room: 250_000)
        #expect(!quality.adapt(toByteCount: 200_000) && quality.value == 20)
        for _ in 0..<5 { #expect(quality.adapt(toByteCount: 60_000) && quality.value == 20) }
        // Once files fit again, quality rises slowly.
        #expect(quality.adapt(toByteCount: 15_000) && quality.value == 21)
        #expect(!quality.adapt(toByteCount: 32_000) && quality.value == 20)
    }

    /// Noise on a slow port: poor quality is better than no video.
    @Test func qualityDropsFurtherIfTheBufferIsTooSmall() {
        var quality = JPEGQuality(largest: 60_000, room: 60_000)
        // Noise hardly shrinks with each step.
        func size() -> Int { 40_000 + 1500 * quality.value }
        var tries = 0
        while !quality.adapt(toByteCount: size()), tries < 20 { tries += 1 }
        #expect(tries < 10 && size() <= 60_000 && quality.value < 20)
        for _ in 0..<100 {
            let size = size()
            #expect(quality.adapt(toByteCount: size) == (size <= 60_000))
        }
        // Then an easier scene.
        for _ in 0..<100 { _ = quality.adapt(toByteCount: 10_000) }
        #expect(quality.value == 85)
    }

    @Test func fastBusOffersEverything() {
        let offer = VideoOffer(on: IsochronousBudget(packetBytes: 3072))
        #expect(offer.formats.map(\.coding) == [.mjpeg, .nv12, .yuyv])
        let sizes = offer.formats.map { format in format.modes.map(\.size.description) }
        #expect(sizes[0] == ["640x360", "640x480", "1280x720", "1920x1080"])
        #expect(sizes[1] == ["640x360", "640x480"])
        #expect(offer.formats.flatMap(\.modes).allSatisfy { $0.intervals.first == 333_333 })
        let nv12ByteCount = 640 * 480 * 3 / 2
        #expect(offer.mode(format: 2, frame: 2)?.largestFrame == nv12ByteCount)
    }

    @Test func raspberryPiBusOffersAllButTheFastestRawFrames() {
        let offer = VideoOffer(on: IsochronousBudget())
        #expect(offer.formats.map { $0.modes.count } == [4, 2, 2])
        let slower = offer.formats.flatMap(\.modes).filter { $0.intervals.first != 333_333 }
        #expect(slower.map { "\($0)" } == ["yuyv 640x480"] && slower.first?.intervals.first == 500_000)
    }

    /// 1024 bytes in every microframe give 7.6 MB/s for frames: 614,400 bytes twelve times per second.
    @Test func modesThatDoNotFitAreNotOffered() {
        let offer = VideoOffer(on: IsochronousBudget(packetBytes: 1024, interval: 1))
        #expect(offer.mode(format: 3, frame: 2)?.intervals == [1_000_000, 2_000_000])
        let slow = VideoOffer(on: IsochronousBudget(packetBytes: 1024, interval: 4))
        #expect(slow.formats.map(\.coding) == [.mjpeg])
        #expect(slow.formats[0].modes.map { "\($0.size)" } == ["640x360", "640x480", "1280x720", "1920x1080"])
        #expect(slow.formats[0].modes[3].intervals == [2_000_000])
    }

    @Test func bothRawFormatsOfferTheSameSizes() {
        for packet in stride(from: 64, through: 3072, by: 64) {
            let formats = VideoOffer(on: IsochronousBudget(packetBytes: packet)).formats
            let raw = formats.filter { $0.coding != .mjpeg }.map { $0.modes.map(\.size) }
            #expect(raw.isEmpty || raw[0] == raw[1])
        }
    }

    @Test func noFrameExceedsTheBusAtItsRate() {
        for packet in stride(from: 64, through: 3072, by: 64) {
            let bus = IsochronousBudget(packetBytes: packet)
            for mode in VideoOffer(on: bus).formats.flatMap(\.modes) {
                let rate = 10_000_000 / Int(mode.usualInterval)
                #expect(mode.largestFrame * rate <= bus.bytesPerSecond, "\(mode) on \(bus)")
            }
        }
    }

    @Test func unknownModeIsRejected() {
        let offer = VideoOffer(on: IsochronousBudget())
        for (format, frame) in [(0, 1), (4, 1), (1, 0), (1, 5), (-1, -1), (Int.max, Int.max)] {
            #expect(offer.mode(format: format, frame: frame) == nil)
        }
    }
}
