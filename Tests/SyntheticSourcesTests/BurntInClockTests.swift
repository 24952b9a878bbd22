import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import SoftwareEncoding
import StreamQuality
import Testing

@testable import SyntheticSources

@Suite struct BurntInClockTests {
    private static let time = MediaTimestamp(milliseconds: 98_765_432_109)

    /// A gray frame with a strip.
    private static func frame(_ size: FrameSize, frameNumber: UInt32 = 0xDEAD_BEEF) -> [UInt8] {
        var bytes = [UInt8](repeating: 128, count: FrameLayout(packed: .i420, size: size).byteCount)
        bytes.withUnsafeMutableBytes {
            BurntInClock.draw(frameNumber: frameNumber, time: time, luma: $0, stride: size.width, size: size)
        }
        return bytes
    }

    private static func read(_ bytes: [UInt8], _ size: FrameSize, stride: Int? = nil) -> BurntInClock.Reading? {
        bytes.withUnsafeBytes { BurntInClock.read(luma: $0, stride: stride ?? size.width, size: size) }
    }

    @Test(arguments: VideoDimension.presets.map(\.size))
    func readsBackTheStrip(size: FrameSize) {
        for number in [0, 1, 0xDEAD_BEEF, .max] as [UInt32] {
            let reading = Self.read(Self.frame(size, frameNumber: number), size)
            #expect(reading?.frameNumber == number)
            #expect(reading?.time == Self.time)
        }
    }

    @Test(arguments: VideoDimension.widePresets.map(\.size))
    func survivesScaling(to target: FrameSize) throws {
        for source in VideoDimension.widePresets.map(\.size) {
            let scaler = try SoftwareScaler(from: FrameLayout(packed: .i420, size: source), to: target)
            let reading = try Self.frame(source).withUnsafeBytes { bytes in
                try scaler.scale(bytes) { scaled, layout in
                    BurntInClock.read(luma: scaled, stride: layout.planes[0].stride, size: layout.size)
                }
            }
            #expect(reading?.frameNumber == 0xDEAD_BEEF, "from \(source)")
            #expect(reading?.time == Self.time, "from \(source)")
        }
    }

    @Test func survivesTheLowestQuality() throws {
        let size = FrameSize(width: 416, height: 234)
        let quality = VideoQuality.low1
        let pattern = TestPattern(size: size, frameRate: quality.frameRate, stop: try EventFD())
        let encoder = try OpenH264Encoder(
            configuration: .init(
                size: size, frameRate: quality.frameRate, bitrate: quality.bitrate, profile: quality.profile,
                level: quality.level(for: size), keyframeInterval: 24))
        var packets: [EncodedPacket] = []
        for index in 0..<120 {
            var bytes = [UInt8](repeating: 0, count: pattern.layout.byteCount)
            let time = Self.time + quality.frameRate.offset(ofFrame: index)
            bytes.withUnsafeMutableBytes { pattern.draw(into: $0, frame: index, at: time, since: Self.time) }
            packets += try encoder.encode(
                CapturedFrame(layout: pattern.layout, captureTime: time, memory: ArrayFrame(bytes)))
        }
        let frames = try FFmpeg.frames(of: packets, byteCount: pattern.layout.byteCount)
        let times = packets.filter { $0.kind != .videoHeader }.map { $0.decodeTime.nanoseconds / 1_000_000 }
        let readings = frames.map { Self.read($0, size) }
        #expect(times.count >= 114)
        #expect(readings.map { $0.map { $0.time.nanoseconds / 1_000_000 } } == times)
    }

    @Test func refusesADamagedStrip() {
        let size = FrameSize(width: 640, height: 360)
        let whole = Self.frame(size)
        for block in 0..<96 {
            var damaged = whole
            let (row, column) = (block / BurntInClock.columns, block % BurntInClock.columns)
            for y in 0..<16 {
                for x in 0..<16 {
                    let place = (360 - 48 + row * 16 + y) * 640 + column * 16 + x
                    damaged[place] = 251 - damaged[place]
                }
            }
            #expect(Self.read(damaged, size) == nil, "block \(block)")
        }
    }

    @Test func readsNothingWithoutAStrip() {
        let size = FrameSize(width: 640, height: 360)
        #expect(Self.read([UInt8](repeating: 128, count: 640 * 360), size) == nil)
        #expect(Self.read([UInt8](repeating: 0, count: 640 * 360), size) == nil)
        let whole = Self.frame(size)
        #expect(Self.read(Array(whole.prefix(640 * 360 - 1)), size) == nil)
        #expect(Self.read(whole, size, stride: 639) == nil)
        #expect(Self.read(whole, FrameSize(width: 640, height: 2)) == nil)
    }

    @Test func leavesTinyFramesUnchanged() {
        let size = FrameSize(width: 4, height: 4)
        #expect(Self.frame(size) == [UInt8](repeating: 128, count: 24))
    }
}
