import DevicePorts
import Media
import SoftwareEncoding

/// A source whose frames are rotated or mirrored, in software. Used by the video thread.
final class RotatedSource: VideoSource {
    private let source: any VideoSource
    private let rotator: FrameRotator
    private var pool: FramePool
    private var rotatedFrames = 0

    init(_ source: any VideoSource, _ rotation: FrameRotation) throws(VideoEncodingError) {
        self.source = source
        rotator = try FrameRotator(from: source.layout, rotation)
        pool = FramePool(byteCount: rotator.target.byteCount)
    }

    var layout: FrameLayout { rotator.target }
    var frameRate: FrameRate { source.frameRate }
    var colors: VideoColors? { source.colors }
    var deviceName: String? { source.deviceName }
    var endingNote: String? { source.endingNote }

    var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.rotatedFrames += rotatedFrames
        statistics.passes += rotatedFrames * rotator.passCount
        return statistics
    }

    func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        let rotated = pool.take()
        let result = frame.withBytes { bytes in
            rotated.withMutableBytes { memory in
                Result { () throws(VideoEncodingError) in try rotator.rotate(bytes, into: memory) }
            }
        }
        try result.get()
        rotatedFrames += 1
        return CapturedFrame(layout: rotator.target, captureTime: frame.captureTime, memory: rotated)
    }
}

extension RotatedSource: FrameRateSelection {
    func selectFrameRate(_ rate: FrameRate) { (source as? any FrameRateSelection)?.selectFrameRate(rate) }
}
