import DevicePorts
import Media
import MediaTestSupport
import SoftwareEncoding
import StreamQuality
import Testing

/// How closely 20 s of rich content match the bit rate of a quality.
@Suite(.serialized) struct BitrateTests {
    @Test(
        arguments: [
            (VideoQuality.low1, FrameSize(width: 416, height: 234)),
            (.medium1, FrameSize(width: 640, height: 480)), (.high1, FrameSize(width: 1280, height: 720)),
            (.high3, FrameSize(width: 1280, height: 720)),
        ])
    func richContentKeepsTheBitRateOfTheQuality(quality: VideoQuality, size: FrameSize) throws {
        let scenery = Scenery(size: size)
        let encoder = try OpenH264Encoder(configuration: VideoEncoderConfiguration(quality, size: size))
        let count = 20 * quality.frameRate.framesPerSecond
        var byteCount = 0
        for index in 0..<count {
            byteCount += try encoder.encode(scenery.frame(index, at: quality.frameRate))
                .reduce(0) { $0 + $1.payload.count }
        }
        let bitrate = Double(8 * byteCount) / 20
        let share = bitrate / Double(quality.bitrate.bitsPerSecond)
        #expect((0.95...1.05).contains(share))
        #expect(encoder.skippedFrameCount <= count / 50)
    }
}
