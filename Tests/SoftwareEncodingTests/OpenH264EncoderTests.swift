import Bitstream
import DevicePorts
import Media
import MediaTestSupport
import SeededNumbers
import StreamQuality
import Testing

@testable import SoftwareEncoding

@Suite struct OpenH264EncoderTests {
    private static let size = FrameSize(width: 320, height: 180)
    private static let rate = FrameRate(framesPerSecond: 15)

    private func configuration(kilobits: Int = 300, interval: Int = 30) -> VideoEncoderConfiguration {
        VideoEncoderConfiguration(
            size: Self.size, frameRate: Self.rate, bitrate: Bitrate(kilobitsPerSecond: kilobits), profile: .baseline,
            level: .level3_0, keyframeInterval: interval)
    }

    /// The numbers of the keyframes, if frame N was captured at N / rate.
    private func keyframes(_ packets: [EncodedPacket], at rate: FrameRate = rate) -> [Int] {
        packets.filter { $0.kind == .video(isKeyframe: true) }
            .map { Int(($0.decodeTime.nanoseconds * Int64(rate.framesPerSecond) + 500_000_000) / 1_000_000_000) }
    }

    private func frameCount(_ packets: [EncodedPacket]) -> Int { packets.count { $0.kind != .videoHeader } }

    @Test(arguments: VideoQuality.presets)
    func profileAndLevelAreAsConfigured(quality: VideoQuality) throws {
        let sides = [(16, 16), (416, 234), (400, 300), (640, 360), (640, 480), (960, 540), (1280, 720), (1920, 1080)]
        for size in sides.map({ FrameSize(width: $0.0, height: $0.1) }) {
            let configuration = try VideoEncoderConfiguration(quality, size: size)
            let encoder = try OpenH264Encoder(configuration: configuration)
            let layout = FrameLayout(packed: .i420, size: size)
            let gray = ArrayFrame([UInt8](repeating: 128, count: layout.byteCount))
            let packets = try encoder.encode(CapturedFrame(layout: layout, captureTime: .zero, memory: gray))
            #expect(packets.map(\.kind) == [.videoHeader, .video(isKeyframe: true)])
            let record = try AVCDecoderConfigurationRecord(parsing: packets[0].payload)
            #expect(record.profile == quality.profile.rawValue, "\(size)")
            #expect(record.level == configuration.level.rawValue, "\(size)")
            #expect(try SequenceParameterSet(nalUnit: record.sequenceParameterSets[0]).size == size)
        }
    }

    @Test(arguments: [1, 2, 7, 30])
    func keyframesKeepTheirIntervalDespiteSkippedFrames(interval: Int) throws {
        let scenery = Scenery(size: Self.size)
        // Far too low a rate for these frames, so many are skipped.
        let encoder = try OpenH264Encoder(configuration: configuration(kilobits: 30, interval: interval))
        let packets = try (0..<90).flatMap { try encoder.encode(scenery.frame($0, at: Self.rate)) }
        #expect(keyframes(packets) == Array(stride(from: 0, to: 90, by: interval)))
        #expect(frameCount(packets) + encoder.skippedFrameCount == 90)
        #expect(interval == 1 || encoder.skippedFrameCount > 0)
        #expect(packets.count { $0.kind == .videoHeader } == 1)
    }

    @Test func requestedKeyframeComesAtOnceAndRestartsTheInterval() throws {
        let scenery = Scenery(size: Self.size)
        let encoder = try OpenH264Encoder(configuration: configuration(kilobits: 30, interval: 20))
        var packets: [EncodedPacket] = []
        for index in 0..<60 {
            if [7, 30, 31].contains(index) { encoder.requestKeyframe() }
            packets += try encoder.encode(scenery.frame(index, at: Self.rate))
        }
        #expect(keyframes(packets) == [0, 7, 27, 30, 31, 51])
    }

    @Test func packetsHaveTheCaptureTimesOfTheirFrames() throws {
        let scenery = Scenery(size: Self.size)
        let encoder = try OpenH264Encoder(configuration: configuration(kilobits: 2000))
        var random = SeededGenerator(seed: 5)
        var times: [MediaTimestamp] = []
        var packets: [EncodedPacket] = []
        for index in 0..<40 {
            let jitter = Duration.microseconds(Int64.random(in: -20_000...20_000, using: &random))
            let time = MediaTimestamp(milliseconds: 123_456_789) + Self.rate.offset(ofFrame: index) + jitter
            times.append(time)
            packets += try encoder.encode(
                CapturedFrame(layout: scenery.layout, captureTime: time, memory: ArrayFrame(scenery.frame(index))))
        }
        #expect(encoder.skippedFrameCount == 0)
        #expect(packets.first?.kind == .videoHeader)
        #expect(packets.first?.decodeTime == times.first)
        #expect(packets.dropFirst().map(\.decodeTime) == times)
        #expect(packets.allSatisfy { $0.compositionOffset == .zero })
    }

    @Test func slowSourceGetsItsKeyframesInTime() {
        var schedule = KeyframeSchedule()
        // 15 per second instead of the configured 30, with a keyframe every 2 s.
        var configuration = configuration(interval: 60)
        configuration.frameRate = FrameRate(framesPerSecond: 30)
        let keys = (0..<100).filter { index in
            schedule.frameArrived(at: .zero + Self.rate.offset(ofFrame: index), configuration: configuration)
        }
        // The first frame after 2.0167 s is more than half a frame beyond 2 s.
        #expect(keys == [0, 31, 62, 93])
    }

    @Test func bitrateChangesWhileRunning() throws {
        let scenery = Scenery(size: Self.size)
        let encoder = try OpenH264Encoder(configuration: configuration(kilobits: 600))
        func kilobits(_ frames: Range<Int>, _ packets: inout [EncodedPacket]) throws -> Double {
            let new = try frames.flatMap { try encoder.encode(scenery.frame($0, at: Self.rate)) }
            packets += new
            return Double(8 * new.reduce(0) { $0 + $1.payload.count }) * 15 / Double(frames.count) / 1000
        }
        var packets: [EncodedPacket] = []
        #expect((540...660).contains(try kilobits(0..<150, &packets)))
        try encoder.setBitrate(Bitrate(kilobitsPerSecond: 200))
        _ = try kilobits(150..<180, &packets)
        #expect((180...220).contains(try kilobits(180..<330, &packets)))
        try encoder.setBitrate(Bitrate(kilobitsPerSecond: 1000))
        _ = try kilobits(330..<360, &packets)
        #expect((900...1100).contains(try kilobits(360..<510, &packets)))
        #expect(keyframes(packets) == Array(stride(from: 0, to: 510, by: 30)))
        #expect(packets.count { $0.kind == .videoHeader } == 1)
        #expect(encoder.configuration.bitrate == Bitrate(kilobitsPerSecond: 1000))
    }

    @Test func frameRateChangesWhileRunning() throws {
        let scenery = Scenery(size: Self.size)
        let encoder = try OpenH264Encoder(configuration: configuration(kilobits: 400))
        let fast = try (0..<150).flatMap { try encoder.encode(scenery.frame($0, at: Self.rate)) }
        let slow = FrameRate(framesPerSecond: 10)
        try encoder.setFrameRate(slow, keyframeInterval: 20)
        encoder.requestKeyframe()
        let packets = try (100..<260).flatMap { try encoder.encode(scenery.frame($0, at: slow)) }
        #expect(keyframes(fast) == [0, 30, 60, 90, 120])
        #expect(keyframes(packets, at: slow) == Array(stride(from: 100, to: 260, by: 20)))
        #expect(!packets.contains { $0.kind == .videoHeader })
        let later = packets.filter { $0.decodeTime >= MediaTimestamp(milliseconds: 12_000) }
        let kilobits = Double(8 * later.reduce(0) { $0 + $1.payload.count }) / 14 / 1000
        #expect((360...440).contains(kilobits))
        #expect(encoder.configuration.frameRate == slow)
    }

    @Test func settingsBeyondTheLevelAreRefused() throws {
        let scenery = Scenery(size: Self.size)
        let encoder = try OpenH264Encoder(configuration: configuration())
        let tooMuch = Bitrate(kilobitsPerSecond: 10_001)
        #expect(
            throws: VideoEncodingError.levelExceeded(
                .level3_0, size: Self.size, frameRate: Self.rate, bitrate: tooMuch)
        ) { try encoder.setBitrate(tooMuch) }
        #expect(throws: VideoEncodingError.unsupportedFrameRate(FrameRate(framesPerSecond: 61))) {
            try encoder.setFrameRate(FrameRate(framesPerSecond: 61), keyframeInterval: 60)
        }
        #expect(encoder.configuration == configuration())
        #expect(try encoder.encode(scenery.frame(0, at: Self.rate)).count == 2)
        for (width, height) in [(15, 16), (14, 16), (321, 180), (320, 181), (3842, 16), (0, 0)] {
            var wrong = configuration()
            wrong.size = FrameSize(width: width, height: height)
            #expect(throws: VideoEncodingError.unsupportedSize(wrong.size)) {
                try OpenH264Encoder(configuration: wrong)
            }
        }
        var large = configuration()
        large.size = FrameSize(width: 1280, height: 720)
        #expect(throws: VideoEncodingError.self) { try OpenH264Encoder(configuration: large) }
    }

    @Test func incompleteFrameIsRefused() throws {
        let encoder = try OpenH264Encoder(configuration: configuration())
        let layout = FrameLayout(packed: .nv12, size: Self.size)
        let memory = ArrayFrame([UInt8](repeating: 0, count: layout.byteCount - 1))
        #expect(throws: VideoEncodingError.incompleteFrame(layout, byteCount: layout.byteCount - 1)) {
            try encoder.encode(CapturedFrame(layout: layout, captureTime: .zero, memory: memory))
        }
    }

    @Test(arguments: [(H264Profile.baseline, 1), (.main, 1), (.main, 2), (.baseline, 3)])
    func decodersCanDecodeTheStream(profile: H264Profile, threadCount: Int) throws {
        let scenery = Scenery(size: Self.size)
        var configuration = configuration(kilobits: 1500)
        configuration.profile = profile
        let encoder = try OpenH264Encoder(configuration: configuration, threadCount: threadCount)
        let packets = try (0..<60).flatMap { try encoder.encode(scenery.frame($0, at: Self.rate)) }
        let frames = try FFmpeg.frames(of: packets, byteCount: scenery.layout.byteCount)
        try #require(frames.count == 60)
        for index in [0, 29, 30, 59] {
            let squares = zip(frames[index], scenery.frame(index)).reduce(0) { sum, pair in
                let difference = Int(pair.0) - Int(pair.1)
                return sum + difference * difference
            }
            // 27 dB; a frame that is off by one would be below 20.
            #expect(Double(squares) / Double(scenery.layout.byteCount) < 130, "frame \(index)")
        }
    }

    @Test func acceptsOtherSizesAndFormats() throws {
        let encoder = try OpenH264Encoder(configuration: configuration())
        var packets: [EncodedPacket] = []
        let layouts = [
            FrameLayout(packed: .nv12, size: Self.size),
            FrameLayout(packed: .i420, size: .init(width: 641, height: 481)),
            FrameLayout(packed: .i420, size: Self.size),
        ]
        for (index, layout) in layouts.enumerated() {
            var bytes = [UInt8](repeating: 90, count: layout.byteCount)
            for place in 0..<layout.size.width * layout.size.height { bytes[place] = 200 }
            packets += try encoder.encode(
                CapturedFrame(
                    layout: layout, captureTime: .zero + Self.rate.offset(ofFrame: index), memory: ArrayFrame(bytes)))
        }
        #expect(
            packets.map(\.kind) == [.videoHeader, .video(isKeyframe: true)]
                + Array(repeating: .video(isKeyframe: false), count: 2))
        let frames = try FFmpeg.frames(of: packets, byteCount: layouts[0].byteCount)
        let middle = 90 * 320 + 160
        for frame in frames {
            #expect((195...205).contains(frame[middle]))
            #expect((85...95).contains(frame[320 * 180 + 45 * 160 + 80]))
        }
        // The 4:3 frame has bars at its sides, the others have none.
        #expect(frames.map { $0[90 * 320 + 10] < 60 } == [false, true, false])
    }
}
