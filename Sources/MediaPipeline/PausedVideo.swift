import DevicePorts
import FrameFiltering
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic

/// A pause, as the video thread needs it.
struct VideoPause: Sendable {
    var state = StreamPause()
    /// The slate. `nil` shows the last frame, either because no file was named or because it is still being read.
    var image: StillImage?
}

/// Replaces the camera's frames while a stream is paused: with the slate, otherwise with the last frame before the pause,
/// otherwise with black. Used by the video thread.
///
/// The camera's frames continue and set the pace. Each is overwritten in its own memory, so that encoder, display and computer
/// get the memory and layout they expect. A repeated frame in ordinary memory is replaced with a copy in the same layout. If a
/// frame from before the pause is repeated after it, its samples are restored. A frame that cannot be overwritten, or that
/// would have bars in the stream, is replaced with one of the stream's size.
struct PausedVideo {
    /// An unpadded frame that is sent repeatedly.
    private struct Still {
        let layout: FrameLayout
        let colors: VideoColors
        let hasImage: Bool
        let bytes: [UInt8]
        /// For frames that are not overwritten.
        var pool: FramePool
    }

    private(set) var isPaused = false
    /// Whether a camera's frame was sent before.
    private var hasBeenLive = false
    private var image: StillImage?
    /// A copy of the last frame before the pause.
    private var lastFrame: (layout: FrameLayout, bytes: [UInt8])?
    private var still: Still?
    /// Whether the present frame may be repeated after the pause.
    private var mayReturn = false
    /// The original samples of an overwritten frame that may be repeated after the pause, and their capture time.
    private var original: (taken: MediaTimestamp, bytes: [UInt8])?

    /// Call it for each frame of the source.
    /// - Parameters:
    ///   - taken: when its samples were captured; `nil` for `time`. A camera that was lost during the pause repeats the same
    ///     frame afterwards.
    ///   - isSent: whether the frame is part of the stream; before that, only the sinks beside it see frames.
    /// - Returns: whether this frame is the first of a pause, of a new slate, or after a pause. Viewers get a keyframe then.
    mutating func frameCaptured(
        at time: MediaTimestamp, takenAt taken: MediaTimestamp? = nil, _ pause: VideoPause, isSent: Bool = true
    ) -> Bool {
        let wasPaused = isPaused
        isPaused = pause.state.replaces(capturedAt: time, takenAt: taken)
        mayReturn = pause.state.returns(frameTakenAt: taken ?? time)
        guard isPaused else {
            hasBeenLive = hasBeenLive || isSent
            // They take as much memory as several camera frames.
            (image, lastFrame, still) = (nil, nil, nil)
            return wasPaused
        }
        let isNewImage = image == nil && pause.image != nil
        // If the image can no longer be read, the previous one stays until the pause ends.
        image = pause.image ?? image
        return isNewImage || !wasPaused
    }

    /// Whether this frame is still sent, as the last one before the pause.
    func isLast(_ frame: CapturedFrame, _ pause: VideoPause) -> Bool {
        isPaused && hasBeenLive && image == nil && lastFrame == nil && still == nil
            && pause.state.mayShow(frameTakenAt: frame.captureTime)
    }

    /// Copies the last frame before the pause, once, so that the camera gets its memory back.
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
    ///   - frame: the camera's frame, of which nothing remains.
    ///   - size: of the stream's frames.
    ///   - colors: of the source; `nil` for those that players assume for this frame size.
    /// - Returns: the frame to send at that time.
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

    /// - Returns: `nil` if the frame cannot be overwritten; it stays unchanged then.
    private mutating func overwritten(
        _ frame: CapturedFrame, streamSize: FrameSize, _ colors: VideoColors?
    ) -> CapturedFrame? {
        let layout = frame.layout
        guard layout.format.isPlanar, layout.modifier == 0, layout.size.width % 2 == 0, layout.size.height % 2 == 0,
            !Letterbox(layout.size, into: streamSize).hasBars
        else { return nil }
        prepareStill(layout.format, layout.size, colors)
        guard let still else { return nil }
        // A movie or pipe delivers the same memory again after the pause until it has a new frame.
        if frame.repeats != nil, frame.dmabuf == nil { return Self.copy(still, as: layout, at: frame.captureTime) }
        if mayReturn { keepOriginal(frame) }
        var isWritten = false
        let isWritable = frame.memory.modify { bytes in
            isWritten = (try? FramePacker.spread(still.bytes, still.layout, into: bytes, layout)) != nil
        }
        return isWritable && isWritten ? frame : nil
    }

    /// Saves the samples before they are overwritten. Sending a copy after the pause would not do: it is not a DMABUF, and an
    /// encoder that imports DMABUFs would then copy every later frame.
    private mutating func keepOriginal(_ frame: CapturedFrame) {
        // A repeated frame already contains the pause's samples.
        guard original?.taken != frame.takenAt else { return }
        original = (frame.takenAt, frame.withBytes { Array($0.prefix(frame.layout.byteCount)) })
    }

    /// Call it for each frame that is sent unchanged. If the camera was lost before or at the start of the pause, its last
    /// frame gets its own samples back.
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

    /// Prepares the still image once for each size, and keeps it until another is needed.
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

    /// Converts I420 to NV12.
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
