import DevicePorts
import Media
import SoftwareEncoding

/// A source whose frames are turned, by software. Used by the video thread.
final class RotatedSource: VideoSource {
    private let source: any VideoSource
    private let turner: FrameRotator
    private var turnedFrames = 0

    init(_ source: any VideoSource, _ turn: FrameRotation) throws(VideoEncodingError) {
        self.source = source
        turner = try FrameRotator(from: source.layout, turn)
    }

    var layout: FrameLayout { turner.target }
    var frameRate: FrameRate { source.frameRate }
    var endingNote: String? { source.endingNote }

    var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.turnedFrames += turnedFrames
        statistics.passes += turnedFrames * turner.passCount
        return statistics
    }

    func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        let rotated = try frame.withBytes { bytes throws(VideoEncodingError) in try turner.turn(bytes) }
        turnedFrames += 1
        return CapturedFrame(layout: turner.target, captureTime: frame.captureTime, memory: CopiedFrame(rotated))
    }
}
