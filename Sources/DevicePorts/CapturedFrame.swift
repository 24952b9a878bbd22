import Media

/// How the samples of a raw picture lie in memory.
public enum PixelFormat: String, Sendable {
    /// Three planes: Y, U, V; U and V at half width and height.
    case i420
    /// Two planes: Y, and U and V interleaved, at half width and height.
    case nv12
}

/// Where the planes of a raw picture are, within one buffer.
public struct FrameLayout: Hashable, Sendable {
    public struct Plane: Hashable, Sendable {
        /// Bytes from the buffer's begin to the plane's first sample.
        public let offset: Int
        /// Bytes from one row to the next.
        public let stride: Int

        public init(offset: Int, stride: Int) {
            self.offset = offset
            self.stride = stride
        }
    }

    public let format: PixelFormat
    public let size: PictureSize
    public let planes: [Plane]
    /// Bytes from the buffer's begin to the end of the last plane.
    public let byteCount: Int

    /// Planes one behind the other with no padding: what raw files and pipes carry.
    /// Odd sizes round the chroma planes up.
    public init(packed format: PixelFormat, size: PictureSize) {
        let luma = size.width * size.height
        let chromaWidth = (size.width + 1) / 2
        let chroma = chromaWidth * ((size.height + 1) / 2)
        self.format = format
        self.size = size
        self.byteCount = luma + 2 * chroma
        planes =
            switch format {
            case .i420:
                [
                    Plane(offset: 0, stride: size.width), Plane(offset: luma, stride: chromaWidth),
                    Plane(offset: luma + chroma, stride: chromaWidth),
                ]
            case .nv12:
                [Plane(offset: 0, stride: size.width), Plane(offset: luma, stride: 2 * chromaWidth)]
            }
    }
}

/// A raw picture on loan from its source. It goes back to the source when it is
/// released, which happens exactly once: by leaving scope. The encoder that
/// takes it keeps it until it has read the last sample.
public struct CapturedFrame: ~Copyable, Sendable {
    public let layout: FrameLayout
    /// When the picture was taken, on CLOCK_MONOTONIC.
    public let captureTime: MediaTimestamp
    private let memory: FrameMemory

    /// The frame holds a reference to `memory`; dropping it is the release.
    public init(layout: FrameLayout, captureTime: MediaTimestamp, memory: FrameMemory) {
        self.layout = layout
        self.captureTime = captureTime
        self.memory = memory
    }

    /// Gives the picture's bytes, `layout.byteCount` of them, for the time of the call.
    public borrowing func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try memory.withBytes(body)
    }
}

/// The memory behind a raw picture, owned by a source's pool.
public protocol FrameMemory: AnyObject, Sendable {
    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value
}
