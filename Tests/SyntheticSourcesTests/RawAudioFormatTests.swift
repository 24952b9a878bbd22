import DevicePorts
import Testing

@testable import SyntheticSources

@Suite struct RawAudioFormatTests {
    private func samples(_ bytes: [UInt8], _ sample: RawAudioFormat.Sample, channels: Int = 2) -> [Int16] {
        let format = RawAudioFormat(sample: sample, sampleRate: 48_000, channelCount: channels)
        return bytes.withUnsafeBytes { format.samples(of: $0) }
    }

    private func bytes(_ levels: [Float]) -> [UInt8] {
        levels.flatMap { level in (0..<4).map { UInt8(truncatingIfNeeded: level.bitPattern >> UInt32(8 * $0)) } }
    }

    @Test func sixteenBitSamplesStayUnchanged() {
        #expect(samples([0x34, 0x12, 0x00, 0x80, 0xff, 0x7f, 0xff, 0xff], .s16le) == [0x1234, -32_768, 32_767, -1])
    }

    @Test func thirtyTwoBitSamplesAreRoundedToSixteen() {
        let given: [Int32] = [0, .min, .max, 1 << 16, -1 << 16, (1 << 15) - 1, 1 << 30]
        let bytes = given.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> Int32(8 * $0)) } }
        #expect(samples(bytes, .s32le, channels: 1) == [0, -32_768, 32_767, 1, -1, 0, 16_384])
    }

    @Test func floatsAreClippedAndNaNIsSilent() {
        let given: [Float] = [
            0, 0.5, -0.5, 1, -1, 1.5, -1e30, .infinity, -.infinity, .nan, -.nan, .signalingNaN,
            .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        ]
        let expected: [Int16] = [
            0, 16_384, -16_384, 32_767, -32_768, 32_767, -32_768, 32_767, -32_768, 0, 0, 0, 0, 32_767,
        ]
        #expect(samples(bytes(given), .f32le) == expected)
    }

    /// One channel at full scale at a time, for each channel count: on which side it is heard, and how loud relative to front
    /// left and right.
    @Test(arguments: [
        (3, ["L", "R", "LR"]), (4, ["L", "R", "l", "r"]), (5, ["L", "R", "LR", "l", "r"]),
        (6, ["L", "R", "LR", "", "l", "r"]), (7, ["L", "R", "LR", "", "lr", "l", "r"]),
        (8, ["L", "R", "LR", "", "l", "r", "l", "r"]),
    ])
    func eachChannelHasItsPosition(count: Int, places: [String]) {
        for (channel, place) in places.enumerated() {
            var frame = [Float](repeating: 0, count: count)
            frame[channel] = 1
            let mixed = samples(bytes(frame), .f32le, channels: count)
            let sides = (place.lowercased().contains("l"), place.lowercased().contains("r"))
            #expect((mixed[0] > 0, mixed[1] > 0) == sides, "channel \(channel) of \(count): \(mixed)")
            if sides == (true, true) { #expect(mixed[0] == mixed[1]) }
        }
    }

    /// 5.1: the sum 1 + 0.707 + 0.707 would clip.
    @Test func surroundIsMixedAccordingToBS775() {
        func left(_ frame: [Float]) -> Double { Double(samples(bytes(frame), .f32le, channels: 6)[0]) / 32_768 }
        let sum = 1 + 2 * 0.5.squareRoot()
        #expect(abs(left([1, 0, 0, 0, 0, 0]) - 1 / sum) < 1e-4)
        #expect(abs(left([0, 0, 1, 0, 0, 0]) - 0.5.squareRoot() / sum) < 1e-4)
        #expect(abs(left([0, 0, 0, 0, 1, 0]) - 0.5.squareRoot() / sum) < 1e-4)
        #expect(left([0, 1, 0, 1, 0, 1]) == 0)
    }

    @Test(arguments: Array(3...8))
    func allChannelsAtFullScaleDoNotClip(count: Int) {
        let loud = samples(bytes([Float](repeating: 1, count: count)), .f32le, channels: count)
        #expect(loud.allSatisfy { $0 >= 32_765 })
        let broken = samples(bytes([Float](repeating: .infinity, count: count)), .f32le, channels: count)
        #expect(broken == loud)
        #expect(samples(bytes([Float](repeating: .nan, count: count)), .f32le, channels: count) == [0, 0])
    }

    @Test func mixIsStereo() {
        let channels = (1...8).map { RawAudioFormat(sampleRate: 96_000, channelCount: $0).mixed.channelCount }
        #expect(channels == [1, 2, 2, 2, 2, 2, 2, 2])
        #expect(samples([0, 64, 0, 0, 0, 0], .s16le, channels: 3).count == 2)
    }
}
