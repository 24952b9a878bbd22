import Bitstream
import DevicePorts
import Media
import MediaTestSupport
import SeededNumbers
import SoftwareEncoding
import Testing

@Suite struct AACEncoderTests {
    private static let start = MediaTimestamp(milliseconds: 1_000_000)
    private static let formats = AACEncoder.sampleRates.flatMap { rate in
        [1, 2].map { AudioFormat(sampleRate: rate, channelCount: $0) }
    }

    private static func encoder(_ format: AudioFormat) throws -> AACEncoder {
        let kilobits = format.sampleRate < 16_000 ? 24 : 48
        return try AACEncoder(format: format, bitrate: Bitrate(kilobitsPerSecond: kilobits * format.channelCount))
    }

    private static func time(_ frame: Int, _ format: AudioFormat) -> MediaTimestamp {
        start + .nanoseconds(Int64(frame) * 1_000_000_000 / Int64(format.sampleRate))
    }

    /// Silence with a click at this frame, if the frame is in the block.
    private static func block(_ first: Int, _ count: Int, _ format: AudioFormat, click: Int) -> AudioBlock {
        var samples = [Int16](repeating: 0, count: count * format.channelCount)
        for channel in 0..<format.channelCount {
            for (offset, level) in [12_000, 28_000, 12_000].enumerated() {
                let frame = click - 1 + offset - first
                if (0..<count).contains(frame) { samples[frame * format.channelCount + channel] = Int16(level) }
            }
        }
        return AudioBlock(samples: samples, captureTime: time(first, format))
    }

    /// When the loudest sample is heard if a decoder plays each packet at its time.
    private static func clickTime(_ packets: [EncodedPacket], _ format: AudioFormat) throws -> MediaTimestamp? {
        let samples = try FFmpeg.samples(of: packets)
        let audio = packets.filter { $0.kind == .audio }
        #expect(samples.count == audio.count * 1024 * format.channelCount)
        guard let place = samples.indices.max(by: { samples[$0].magnitude < samples[$1].magnitude }),
            samples[place].magnitude > 3000
        else { return nil }
        let frame = place / format.channelCount
        return audio[frame / 1024].decodeTime
            + .nanoseconds(Int64(frame % 1024) * 1_000_000_000 / Int64(format.sampleRate))
    }

    private static func isWithin2ms(_ time: MediaTimestamp?, of other: MediaTimestamp) -> Bool {
        guard let time else { return false }
        return (time - other).wholeNanoseconds.magnitude < 2_000_000
    }

    @Test(arguments: formats)
    func headerDescribesTheFormat(format: AudioFormat) throws {
        let encoder = try Self.encoder(format)
        let expected = try AudioSpecificConfig(sampleRate: format.sampleRate, channelCount: format.channelCount)
        #expect(encoder.header == expected)
        var packets: [EncodedPacket] = []
        for index in 0..<10 { packets += try encoder.encode(Self.block(index * 1000, 1000, format, click: -9)) }
        #expect(packets.first?.kind == .audioHeader)
        #expect(packets.first?.payload == expected.bytes)
        #expect(packets.dropFirst().allSatisfy { $0.kind == .audio && !$0.payload.isEmpty })
        #expect(packets.count > 5)
    }

    @Test(arguments: formats)
    func packetsHaveTheCaptureTimeOfTheirAudio(format: AudioFormat) throws {
        let encoder = try Self.encoder(format)
        var packets: [EncodedPacket] = []
        for index in 0..<20 { packets += try encoder.encode(Self.block(index * 700, 700, format, click: 9_876)) }
        packets += try encoder.finish()
        #expect(Self.isWithin2ms(try Self.clickTime(packets, format), of: Self.time(9_876, format)))
        let times = packets.filter { $0.kind == .audio }.map(\.decodeTime)
        for (earlier, later) in zip(times, times.dropFirst()) {
            let exact = 1024 * 1_000_000_000 / Double(format.sampleRate)
            #expect(abs(Double((later - earlier).wholeNanoseconds) - exact) < 3)
        }
        // Nothing is lost: the first packet starts no later than the first sample, and the last ends after the last sample.
        #expect(times.first.map { $0 <= Self.start } == true)
        #expect(
            times.last.map {
                $0 + .nanoseconds(1024 * 1_000_000_000 / Int64(format.sampleRate)) >= Self.time(14_000, format)
            } == true)
    }

    @Test(arguments: [
        AudioFormat(sampleRate: 44_100, channelCount: 2), AudioFormat(sampleRate: 16_000, channelCount: 1),
    ])
    func gapBecomesSilenceOfItsLength(format: AudioFormat) throws {
        let encoder = try Self.encoder(format)
        var packets: [EncodedPacket] = []
        for index in 0..<10 { packets += try encoder.encode(Self.block(index * 1024, 1024, format, click: -9)) }
        let resumed = 10 * 1024 + format.sampleRate / 2
        for index in 0..<10 {
            packets += try encoder.encode(Self.block(resumed + index * 1024, 1024, format, click: resumed + 3000))
        }
        packets += try encoder.finish()
        #expect(abs(encoder.insertedFrameCount - format.sampleRate / 2) <= 1)
        #expect(encoder.droppedFrameCount == 0)
        #expect(Self.isWithin2ms(try Self.clickTime(packets, format), of: Self.time(resumed + 3000, format)))
    }

    @Test func audioAheadOfTheClockIsDropped() throws {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let encoder = try Self.encoder(format)
        var packets: [EncodedPacket] = []
        // Four seconds of audio within one second.
        for index in 0..<200 {
            var block = Self.block(index * 960, 960, format, click: -9)
            block.captureTime = Self.start + .milliseconds(5 * index)
            packets += try encoder.encode(block)
        }
        packets += try encoder.finish()
        let last = try #require(packets.last).decodeTime
        #expect(last - Self.start < .milliseconds(2100))
        #expect(last - Self.start > .milliseconds(900))
        #expect(encoder.droppedFrameCount > 48_000)
        #expect(encoder.insertedFrameCount == 0)
        let times = packets.map(\.decodeTime)
        #expect(times == times.sorted())
    }

    @Test func bitRateChangesWhileRunning() throws {
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        let encoder = try AACEncoder(format: format, bitrate: Bitrate(kilobitsPerSecond: 128))
        var random = SeededGenerator(seed: 2)
        var count = 0
        func kilobits(_ blocks: Int) throws -> Double {
            var byteCount = 0
            for _ in 0..<blocks {
                let noise = random.bytes(2048).map { Int16($0) * 40 }
                let block = AudioBlock(samples: noise, captureTime: Self.time(count * 1024, format))
                count += 1
                let packets = try encoder.encode(block)
                #expect(packets.allSatisfy { $0.kind == .audio } || count < 5)
                byteCount += packets.reduce(0) { $0 + $1.payload.count }
            }
            return Double(8 * byteCount) / (Double(blocks) * 1024 / 44_100) / 1000
        }
        _ = try kilobits(5)
        #expect((118...138).contains(try kilobits(100)))
        try encoder.setBitrate(Bitrate(kilobitsPerSecond: 64))
        _ = try kilobits(5)
        #expect((58...70).contains(try kilobits(100)))
        let tooMuch = Bitrate(kilobitsPerSecond: 2000)
        #expect(throws: AudioEncodingError.self) { try encoder.setBitrate(tooMuch) }
        #expect(encoder.bitrate == Bitrate(kilobitsPerSecond: 64))
        #expect((58...70).contains(try kilobits(100)))
    }

    @Test func bitRateChangeDoesNotShiftTheAudio() throws {
        let format = AudioFormat(sampleRate: 44_100, channelCount: 1)
        let encoder = try AACEncoder(format: format, bitrate: Bitrate(kilobitsPerSecond: 96))
        var packets: [EncodedPacket] = []
        for index in 0..<40 {
            if index == 10 { try encoder.setBitrate(Bitrate(kilobitsPerSecond: 64)) }
            packets += try encoder.encode(Self.block(index * 1000, 1000, format, click: 25_000))
        }
        packets += try encoder.finish()
        #expect(Self.isWithin2ms(try Self.clickTime(packets, format), of: Self.time(25_000, format)))
    }

    @Test func refusesUnsupportedFormatsAndRates() throws {
        for (rate, channels) in [(8000, 1), (44_101, 1), (0, 1), (48_000, 3), (48_000, 0)] {
            let format = AudioFormat(sampleRate: rate, channelCount: channels)
            #expect(throws: AudioEncodingError.unsupportedFormat(format)) {
                try AACEncoder(format: format, bitrate: Bitrate(kilobitsPerSecond: 64))
            }
        }
        let mono = AudioFormat(sampleRate: 11_025, channelCount: 1)
        // A packet has at most 6144 bits (ISO 14496-3 section 4.5.3.1).
        let asked = Bitrate(kilobitsPerSecond: 128)
        let nearest = Bitrate(bitsPerSecond: 66_150)
        #expect(throws: AudioEncodingError.unsupportedBitrate(asked, format: mono, nearest: nearest)) {
            try AACEncoder(format: mono, bitrate: asked)
        }
        #expect(try AACEncoder(format: mono, bitrate: nearest).bitrate == nearest)
        let stereo = AudioFormat(sampleRate: 44_100, channelCount: 2)
        let encoder = try Self.encoder(stereo)
        #expect(throws: AudioEncodingError.brokenBlock(sampleCount: 3, channelCount: 2)) {
            try encoder.encode(AudioBlock(samples: [1, 2, 3], captureTime: .zero))
        }
        #expect(try encoder.encode(AudioBlock(samples: [], captureTime: .zero)).isEmpty)
        #expect(try encoder.finish().isEmpty)
    }
}
