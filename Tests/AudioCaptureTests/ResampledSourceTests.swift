import DevicePorts
import Glibc
import Media
import Testing

@testable import AudioCapture

/// A tone at half of full scale, available without delay.
private final class ToneOfLength: AudioSource {
    let format: AudioFormat
    private(set) var endingNote: String?
    private let frequency: Double
    private let frameCount: Int
    private var position = 0
    static let start = MediaTimestamp(milliseconds: 5000)

    init(_ format: AudioFormat, frequency: Double, frameCount: Int) {
        self.format = format
        self.frequency = frequency
        self.frameCount = frameCount
    }

    func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        guard position < frameCount else {
            endingNote = "it ended"
            return nil
        }
        let frames = position..<min(position + wanted, frameCount)
        position = frames.upperBound
        let samples = frames.flatMap { frame -> [Int16] in
            let angle = 2 * Double.pi * frequency * Double(frame) / Double(format.sampleRate)
            return Array(repeating: Int16(16_384 * sin(angle)), count: format.channelCount)
        }
        let time = Self.start + .ofFrames(frames.lowerBound, sampleRate: format.sampleRate)
        return AudioBlock(samples: samples, captureTime: time)
    }
}

@Suite struct ResampledSourceTests {
    @Test(
        arguments: [8000, 11_025, 16_000, 22_050, 32_000, 64_000, 88_200, 96_000, 176_400, 192_000], [1, 2])
    func resamplingPreservesLengthPitchLevelAndTime(rate: Int, channels: Int) throws {
        let format = AudioFormat(sampleRate: rate, channelCount: channels)
        // Two seconds and an incomplete block.
        let tone = ToneOfLength(format, frequency: 1000, frameCount: 2 * rate + 777)
        let source = try ResampledSource(tone, sampleRate: 44_100)
        #expect(source.format == AudioFormat(sampleRate: 44_100, channelCount: channels))
        var samples: [Int16] = []
        var largestError = 0.0
        while let block = try source.nextBlock(frameCount: 1024) {
            #expect(block.samples.count <= 1024 * channels && block.samples.count % channels == 0)
            let exact = ToneOfLength.start + .ofFrames(samples.count / channels, sampleRate: 44_100)
            largestError = max(largestError, abs((block.captureTime - exact).inSeconds))
            samples += block.samples
        }
        #expect(largestError < 1e-6, "each block's time is that of its first frame")
        #expect(samples.count == (2 * rate + 777) * 44_100 / rate * channels)
        #expect(source.endingNote == "it ended")
        #expect(try source.nextBlock(frameCount: 1024) == nil)
        let left = stride(from: 0, to: samples.count, by: channels).map { samples[$0] }
        let middle = left[4410..<(2 * 44_100 - 4410)]
        let rises = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect((1798...1801).contains(rises), "1000 periods a second")
        #expect((16_000...16_800).contains(middle.max() ?? 0))
        // The start of the tone must not include the filter's delay.
        let first = Double(left[11]) / 16_384
        #expect(abs(first - sin(2 * Double.pi * 1000 * 11 / 44_100)) < 0.05, "\(first)")
    }

    @Test func stoppedSourceDeliversNothingMore() throws {
        let tone = ToneOfLength(AudioFormat(sampleRate: 8000, channelCount: 1), frequency: 100, frameCount: 0)
        let source = try ResampledSource(tone, sampleRate: 44_100)
        #expect(try source.nextBlock(frameCount: 1024) == nil)
    }
}
