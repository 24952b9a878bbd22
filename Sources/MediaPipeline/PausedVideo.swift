import DevicePorts
import FrameFiltering
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic

/// A pause as the video thread needs it.
struct VideoPause: Sendable {
    var state = StreamPause()
    /// The slate; `nil` shows the last frame: no file was named, or it is still being read.
    var image: StillImage?
}

/// Replaces the camera's frames while a stream is paused: by the slate, else by the last frame before the pause, else by
/// black. Used by the video thread.
///
/// The camera's frames go on and give the pace. Each is overwritten in its own memory, so that encoder, display and
/// computer get the memory and layout that they are prepared for. A frame in ordinary memory that is given again is
/// replaced by a copy in the same layout. A frame from before the pause gets its samples back when it is given again
/// afterwards. A frame that cannot be overwritten, or would have bars in the stream, is replaced
/// by one of the stream's size.
struct PausedVideo {
    /// A frame without padding that goes out again and again.
    private struct Still {
        let layout: FrameLayout
        let colors: VideoColors
        let hasImage: Bool
        let bytes: [UInt8]
        /// For frames that are not overwritten.
        var pool: FramePool
    }

    private(set) var isPaused = false
    /// A frame of the camera was sent before.
    private var hasBeenLive = false
    private var image: StillImage?
    /// A copy of the last frame before the pause.
    private var lastFrame: (layout: FrameLayout, bytes: [UInt8])?
    private var still: Still?
    /// The present frame may be given again after the pause.
    private var mayReturn = false
    /// The samples of an overwritten frame that may be given again after the pause, and when it was taken.
    private var original: (taken: MediaTimestamp, bytes: [UInt8])?

    /// To be called with each frame of the source.
    /// - Parameters:
    ///   - taken: when its samples were taken; `nil` for `time`. A camera that was lost during the pause has no other frame
    ///     afterwards.
    ///   - isSent: whether it is part of the stream; before that, only those beside it see frames.
    /// - Returns: whether this frame is the first of a pause, of its slate, or after it: viewers get a keyframe then.
    mutating func frameCaptured(
        at time: MediaTimestamp, takenAt taken: MediaTimestamp? = nil, _ pause: VideoPause, isSent: Bool = true
    ) -> Bool {
        let wasPaused = isPaused
        isPaused = pause.state.replaces(capturedAt: time, takenAt: taken)
        mayReturn = pause.state.returns(frameTakenAt: taken ?? time)
        guard isPaused else {
            hasBeenLive = hasBeenLive || isSent
            // They take as much memory as some of the camera's frames.
            (image, lastFrame, still) = (nil, nil, nil)
            return wasPaused
        }
        let isNewImage = image == nil && pause.image != nil
        // One that cannot be read any more stays until the pause ends.
        image = pause.image ?? image
        return isNewImage || !wasPaused
    }

    /// Whether this frame still goes out, as the last one before the pause.
    func isLast(_ frame: CapturedFrame, _ pause: VideoPause) -> Bool {
        isPaused && hasBeenLive && image == nil && lastFrame == nil && still == nil
            && pause.state.mayShow(frameTakenAt: frame.captureTime)
    }

    /// Copies the last frame before the pause, once: the camera has its memory back.
    mutating func keep(_ frame: CapturedFrame) {
        let layout = frame.layout
        guard layout.modifier == 0 else { return }
        let size = FrameSize(width: layout.size.width & ~1, height: layout.size.height & ~1)
        let bytes = try? frame.withBytes { bytes throws(VideoEncodingError) in
            try Self.scaled(bytes, layout, to: size, fillsTarget: true)
        }
        lastFrame = bytes.map { (FrameLayout(packed: .i420, size: size), $0) }
    }

    /// - Parameters:
    ///   - frame: the camera's, of which nothing is left.
    ///   - size: of the stream's frames.
    ///   - colors: of the source; `nil` for what players take frames of that size for.
    /// - Returns: what goes out at its time.
    mutating func replacement(
        of frame: CapturedFrame, streamSize size: FrameSize, colors: VideoColors?
    ) -> CapturedFrame {
        if let overwritten = overwritten(frame, streamSize: size, colors) { return overwritten }
        prepareStill(.i420, size, colors)
        let layout = FrameLayout(packed: .i420, size: size)
        return CapturedFrame(
            layout: layout, captureTime: frame.captureTime,
            memory: still?.pool.take() ?? PooledFrame(layout.black))
    }

    /// - Returns: `nil` when it cannot be done, and the frame stays as it was.
    private mutating func overwritten(
        _ frame: CapturedFrame, streamSize: FrameSize, _ colors: VideoColors?
    ) -> CapturedFrame? {
        let layout = frame.layout
        guard layout.format.isPlanar, layout.modifier == 0, layout.size.width % 2 == 0, layout.size.height % 2 == 0,
            !Letterbox(layout.size, into: streamSize).hasBars
        else { return nil }
        prepareStill(layout.format, layout.size, colors)
        guard let still else { return nil }
        // A movie or a pipe gives the same memory after the pause, until it has another frame.
        if frame.repeats != nil, frame.dmabuf == nil { return Self.copy(still, as: layout, at: frame.captureTime) }
        if mayReturn { keepOriginal(frame) }
        var isWritten = false
        let isWritable = frame.memory.modify { bytes in
            isWritten = (try? FramePacker.spread(still.bytes, still.layout, into: bytes, layout)) != nil
        }
        return isWritable && isWritten ? frame : nil
    }

    /// Copies the samples before they are overwritten. Showing a copy afterwards would not do: it is not a DMABUF, and an
    /// encoder that reads DMABUFs would then have every later frame copied.
    private mutating func keepOriginal(_ frame: CapturedFrame) {
        // A repeated frame has the pause's samples by now.
        guard original?.taken != frame.takenAt else { return }
        original = (frame.takenAt, frame.withBytes { Array($0.prefix(frame.layout.byteCount)) })
    }

    /// To be called with each frame that goes out as it is: the last one of a camera that was lost before the pause, or at
    /// its start, gets its own samples back.
    mutating func restore(_ frame: CapturedFrame) {
        guard let original else { return }
        self.original = nil
        guard frame.repeats == original.taken, frame.layout.byteCount == original.bytes.count else { return }
        _ = frame.memory.modify { $0.copyBytes(from: original.bytes.prefix($0.count)) }
    }

    private static func copy(
        _ still: Still, as layout: FrameLayout, at time: MediaTimestamp
    ) -> CapturedFrame? {
        var bytes = [UInt8](repeating: 0, count: layout.byteCount)
        let written: Void? = try? bytes.withMutableBytes { target throws(VideoEncodingError) in
            try FramePacker.spread(still.bytes, still.layout, into: target, layout)
        }
        guard written != nil else { return nil }
        return CapturedFrame(layout: layout, captureTime: time, memory: PooledFrame(bytes))
    }

    /// Makes it once for each size, and keeps it until another one is needed.
    private mutating func prepareStill(_ format: PixelFormat, _ size: FrameSize, _ colors: VideoColors?) {
        let layout = FrameLayout(packed: format, size: size)
        let colors = colors ?? .usual(for: size)
        let hasImage = image != nil
        if let still, still.layout == layout, still.colors == colors, still.hasImage == hasImage { return }
        let planes = samples(of: size, colors)
        let bytes = format == .nv12 ? Self.interleaved(planes, size) : planes
        still = Still(
            layout: layout, colors: colors, hasImage: hasImage, bytes: bytes, pool: FramePool(initial: bytes))
    }

    /// - Returns: I420 without padding.
    private func samples(of size: FrameSize, _ colors: VideoColors) -> [UInt8] {
        if let image { return image.frame(of: size, colors: colors) }
        guard let lastFrame else {
            return FrameLayout(packed: .i420, size: size).black(isFullRange: colors.isFullRange)
        }
        guard lastFrame.layout.size != size else { return lastFrame.bytes }
        let scaled = try? lastFrame.bytes.withBytes { bytes throws(VideoEncodingError) in
            try Self.scaled(bytes, lastFrame.layout, to: size)
        }
        return scaled ?? FrameLayout(packed: .i420, size: size).black(isFullRange: colors.isFullRange)
    }

    /// - Returns: I420 without padding.
    private static func scaled(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, to size: FrameSize, fillsTarget: Bool = false
    ) throws(VideoEncodingError) -> [UInt8] {
        let scaler = try SoftwareScaler(from: layout, to: size, fillsTarget: fillsTarget)
        var scaled = scaler.target.black
        try scaled.withMutableBytes { target throws(VideoEncodingError) in try scaler.scale(bytes, into: target) }
        return scaled
    }

    /// NV12 of I420.
    private static func interleaved(_ planes: [UInt8], _ size: FrameSize) -> [UInt8] {
        let layout = FrameLayout(packed: .i420, size: size)
        var bytes = layout.black
        planes.withUnsafeBytes { source in
            _ = bytes.withUnsafeMutableBytes { target in
                try? FramePacker.pack(source, layout, as: .nv12, into: target)
            }
        }
        return bytes
    }
}
