import Media

/// The memory layout of a raw frame's samples.
public enum PixelFormat: String, CaseIterable, Sendable {
    /// Three planes: Y, U, V; U and V at half width and height.
    case i420
    /// Two planes: Y, and U and V interleaved, at half width and height.
    case nv12
    /// One plane: Y U Y V for every two pixels of a row. Most webcams output this when they do not compress.
    case yuyv
    /// One plane: U Y V Y for every two pixels of a row.
    case uyvy
    /// One plane: a byte each of blue, green and red for every pixel. libdrm's name starts with the highest byte.
    case rgb888
    /// One plane: a byte each of red, green and blue for every pixel, which libdrm calls BGR888.
    case bgr888
    /// One plane: a byte each of blue, green, red and alpha for every pixel; alpha is ignored. This and the next two
    /// are named in memory order.
    case bgra
    /// One plane: a byte each of red, green, blue and alpha for every pixel; alpha is ignored.
    case rgba
    /// One plane: a byte each of blue, green and red for every pixel, and an unused one.
    case bgrx

    /// The format's code in drm_fourcc.h.
    public var fourCC: FourCC {
        switch self {
        case .i420: FourCC("YU12")
        case .nv12: FourCC("NV12")
        case .yuyv: FourCC("YUYV")
        case .uyvy: FourCC("UYVY")
        case .rgb888: FourCC("RG24")
        case .bgr888: FourCC("BG24")
        case .bgra: FourCC("AR24")
        case .rgba: FourCC("AB24")
        case .bgrx: FourCC("XR24")
        }
    }

    /// The format's code in videodev2.h: the same as libdrm's, except for 24-bit RGB, which V4L2 names in memory order.
    public var v4l2FourCC: FourCC {
        switch self {
        case .rgb888: FourCC("BGR3")
        case .bgr888: FourCC("RGB3")
        case .i420, .nv12, .yuyv, .uyvy, .bgra, .rgba, .bgrx: fourCC
        }
    }

    /// Bytes per pixel if all samples are in one plane; `nil` for formats with several planes.
    public var bytesPerPixel: Int? {
        switch self {
        case .i420, .nv12: nil
        case .yuyv, .uyvy: 2
        case .rgb888, .bgr888: 3
        case .bgra, .rgba, .bgrx: 4
        }
    }

    /// Red, green and blue in sRGB, which `SoftwareScaler` converts to luma and chroma with the matrix of
    /// `FrameLayout.colors`.
    public var isRGB: Bool {
        switch self {
        case .rgb888, .bgr888, .bgra, .rgba, .bgrx: true
        case .i420, .nv12, .yuyv, .uyvy: false
        }
    }

    /// Luma and chroma in separate planes, as hardware encoders require.
    public var isPlanar: Bool { bytesPerPixel == nil }

    /// - Parameter fourCC: a code from drm_fourcc.h.
    public init?(_ fourCC: FourCC) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }

    /// - Parameter v4l2FourCC: a code from videodev2.h.
    public init?(v4l2 v4l2FourCC: FourCC) {
        guard let format = Self.allCases.first(where: { $0.v4l2FourCC == v4l2FourCC }) else { return nil }
        self = format
    }
}

/// A pixel format code of libdrm and V4L2: four characters, the first one in the lowest byte.
public struct FourCC: Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter text: at most four ASCII characters; shorter texts are padded with spaces.
    public init(_ text: String) {
        var value: UInt32 = 0
        for (index, byte) in (Array(text.utf8) + Array("    ".utf8)).prefix(4).enumerated() {
            value |= UInt32(byte) << UInt32(8 * index)
        }
        rawValue = value
    }
}

extension FourCC: CustomStringConvertible {
    public var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> UInt32(8 * $0)) }
        let text = String(decoding: bytes.map { (32..<127).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}

/// The positions of a raw frame's planes within one buffer.
public struct FrameLayout: Hashable, Sendable {
    public struct Plane: Hashable, Sendable {
        /// Bytes from the buffer's start to the plane's first sample.
        public let offset: Int
        /// Bytes from one row to the next.
        public let stride: Int

        public init(offset: Int, stride: Int) {
            self.offset = offset
            self.stride = stride
        }
    }

    public let format: PixelFormat
    /// How the samples are tiled or compressed, a code from drm_fourcc.h; 0 for rows in order.
    public let modifier: UInt64
    public let size: FrameSize
    public let planes: [Plane]
    /// Bytes from the buffer's start to the end of the last plane.
    public let byteCount: Int

    /// Consecutive planes without padding, as in raw files and pipes. For odd sizes the chroma planes are rounded up.
    public init(packed format: PixelFormat, size: FrameSize) {
        let luma = size.width * size.height
        let chromaWidth = (size.width + 1) / 2
        let chroma = chromaWidth * ((size.height + 1) / 2)
        self.format = format
        self.size = size
        modifier = 0
        byteCount =
            switch format {
            case .i420, .nv12: luma + 2 * chroma
            case .yuyv, .uyvy: 4 * chromaWidth * size.height
            case .rgb888, .bgr888: 3 * luma
            case .bgra, .rgba, .bgrx: 4 * luma
            }
        planes =
            switch format {
            case .i420:
                [
                    Plane(offset: 0, stride: size.width), Plane(offset: luma, stride: chromaWidth),
                    Plane(offset: luma + chroma, stride: chromaWidth),
                ]
            case .nv12:
                [Plane(offset: 0, stride: size.width), Plane(offset: luma, stride: 2 * chromaWidth)]
            case .yuyv, .uyvy: [Plane(offset: 0, stride: 4 * chromaWidth)]
            case .rgb888, .bgr888: [Plane(offset: 0, stride: 3 * size.width)]
            case .bgra, .rgba, .bgrx: [Plane(offset: 0, stride: 4 * size.width)]
            }
    }

    /// Planes at the driver's positions.
    public init(format: PixelFormat, modifier: UInt64 = 0, size: FrameSize, planes: [Plane], byteCount: Int) {
        self.format = format
        self.modifier = modifier
        self.size = size
        self.planes = planes
        self.byteCount = byteCount
    }

    /// A V4L2 buffer: consecutive planes, with every row of the first one `stride` bytes long.
    /// - Returns: `nil` if the buffer is too small for the planes, or the rows are too short for the frame.
    public init?(format: PixelFormat, size: FrameSize, stride: Int, bufferSize: Int) {
        guard (1...16_384).contains(size.width), (1...16_384).contains(size.height), stride <= 1 << 20,
            stride >= (format.bytesPerPixel ?? 1) * size.width
        else { return nil }
        let chromaRows = (size.height + 1) / 2
        let luma = stride * size.height
        let planes: [Plane]
        switch format {
        case .yuyv, .uyvy, .rgb888, .bgr888, .bgra, .rgba, .bgrx: planes = [Plane(offset: 0, stride: stride)]
        case .nv12: planes = [Plane(offset: 0, stride: stride), Plane(offset: luma, stride: stride)]
        case .i420:
            planes = [
                Plane(offset: 0, stride: stride), Plane(offset: luma, stride: stride / 2),
                Plane(offset: luma + stride / 2 * chromaRows, stride: stride / 2),
            ]
        }
        let byteCount: Int =
            switch format {
            case .yuyv, .uyvy, .rgb888, .bgr888, .bgra, .rgba, .bgrx: luma
            case .nv12: luma + stride * chromaRows
            case .i420: luma + 2 * (stride / 2) * chromaRows
            }
        guard byteCount <= bufferSize else { return nil }
        self.init(format: format, size: size, planes: planes, byteCount: byteCount)
    }
}

/// A raw frame on lease from its source. Its memory returns to the source when the last holder releases it; all copies
/// share one lease. An encoder holds the frame until it has read the last sample.
public struct CapturedFrame: Sendable {
    public let layout: FrameLayout
    /// When the frame was taken, on CLOCK_MONOTONIC.
    public let captureTime: MediaTimestamp
    public let memory: any FrameMemory
    /// When the original frame was taken, if this one repeats it in the same memory, even if filters have changed the
    /// samples since; `nil` for a new frame.
    public let repeats: MediaTimestamp?
    /// When its samples were taken, however often they were repeated and copied. Equals `captureTime` for a new frame.
    public let takenAt: MediaTimestamp

    /// - Parameter takenAt: from the frame that this one was made from; `nil` for a frame from its source.
    public init(
        layout: FrameLayout, captureTime: MediaTimestamp, memory: any FrameMemory, repeats: MediaTimestamp? = nil,
        takenAt: MediaTimestamp? = nil
    ) {
        self.takenAt = takenAt ?? repeats ?? captureTime
        self.layout = layout
        self.captureTime = captureTime
        self.memory = memory
        self.repeats = repeats
    }

    /// Provides the frame's bytes, `layout.byteCount` of them, for the duration of the call.
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try memory.withBytes(body)
    }

    /// The DMABUF descriptor that holds the frame, for drivers that accept it; owned by the source and valid as long as
    /// the lease. `nil` for frames in ordinary memory. `layout` describes the planes within it.
    public var dmabuf: Int32? { memory.dmabuf }
}

/// The kind of memory of a source's frames, for which an encoder prepares its inputs.
public enum FrameMemoryKind: Hashable, Sendable {
    /// DMABUFs of a device, which an encoder's driver may read in place.
    case dmabuf
    /// Ordinary memory of the process.
    case pooled
}

/// The memory of a raw frame. Dropping the last reference ends the lease.
public protocol FrameMemory: AnyObject, Sendable {
    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Changes the frame in place for all holders. Only for its first holder, before the frame is passed on.
    /// - Returns: false if the memory is read-only; then nothing was changed.
    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool

    /// See `CapturedFrame.dmabuf`.
    var dmabuf: Int32? { get }

    /// The same samples independent of the device, which can then be closed and unplugged.
    /// - Returns: `nil` if the memory is freed with the device; its bytes can be copied before.
    func detached() -> (any FrameMemory)?
}

extension FrameMemory {
    public var dmabuf: Int32? { nil }
    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool { false }
    public func detached() -> (any FrameMemory)? { nil }
}

extension FrameLayout {
    /// The colors of a source's frames for the encoder and the filters: limited range, BT.709 from 720 rows and BT.601
    /// below, unless the source reports otherwise. RGB is converted by the same rule. Frames that are scaled, rotated
    /// or cropped afterwards keep these colors.
    /// - Parameter reported: the source's report of its luma and chroma.
    public func colors(reported: VideoColors?) -> VideoColors {
        format.isRGB ? .usual(for: size) : reported ?? .usual(for: size)
    }
}
