import DevicePorts
import Media
import SoftwareEncoding

/// A source whose pictures are turned, by software. Used by the video thread.
final class TurnedVideo: VideoSource {
    private let source: any VideoSource
    private let turner: PictureTurner
    private var turnedFrames = 0

    init(_ source: any VideoSource, _ turn: PictureTurn) throws(VideoEncodingError) {
        self.source = source
        turner = try PictureTurner(from: source.layout, turn)
    }

    var layout: FrameLayout { turner.target }
    var frameRate: FrameRate { source.frameRate }
    var endingNote: String? { source.endingNote }

    var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.turnedFrames += turnedFrames
        return statistics
    }

    func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        // The frame in its parts: the optimizer of Swift 6.0 fails on one that lives across a call that throws.
        let time = frame.captureTime
        let memory = frame.takeMemory()
        let picture = try memory.withBytes { bytes throws(VideoEncodingError) in try turner.turn(bytes) }
        turnedFrames += 1
        return CapturedFrame(layout: turner.target, captureTime: time, memory: CopiedPicture(picture))
    }
}
