import Media

/// How the samples of a raw frame lie in memory.
public enum PixelFormat: String, CaseIterable, Sendable {
    /// Three planes: Y, U, V; U and V at half width and height.
    case i420
    /// Two planes: Y, and U and V interleaved, at half width and height.
    case nv12
    /// One plane: Y U Y V for every two pixels of a row. What most webcams give without compressing.
    case yuyv
    /// One plane: U Y V Y for every two pixels of a row.
    case uyvy
    /// One plane: a byte each of blue, green and red for every pixel. libdrm names the highest byte first.
    case rgb888
    /// One plane: a byte each of red, green and blue for every pixel, which libdrm calls BGR888.
    case bgr888
    /// One plane: a byte each of blue, green, red and alpha for every pixel; alpha is left out. Memory's order, as are the
    /// next two.
    case bgra
    /// One plane: a byte each of red, green, blue and alpha for every pixel; alpha is left out.
    case rgba
    /// One plane: a byte each of blue, green and red for every pixel, and one without a meaning.
    case bgrx

    /// The format's number in drm_fourcc.h.
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

    /// The format's number in videodev2.h: libdrm's, but for RGB of 24 bits, whose bytes V4L2 names in the order of memory.
    public var v4l2FourCC: FourCC {
        switch self {
        case .rgb888: FourCC("BGR3")
        case .bgr888: FourCC("RGB3")
        case .i420, .nv12, .yuyv, .uyvy, .bgra, .rgba, .bgrx: fourCC
        }
    }

    /// Bytes of one pixel where all samples are in one plane; `nil` for formats of several planes.
    public var bytesPerPixel: Int? {
        switch self {
        case .i420, .nv12: nil
        case .yuyv, .uyvy: 2
        case .rgb888, .bgr888: 3
        case .bgra, .rgba, .bgrx: 4
        }
    }

    /// Red, green and blue of sRGB; `SoftwareScaler` makes luma and chroma of them, by the matrix of `FrameLayout.colors`.
    public var isRGB: Bool {
        switch self {
        case .rgb888, .bgr888, .bgra, .rgba, .bgrx: true
        case .i420, .nv12, .yuyv, .uyvy: false
        }
    }

    /// Luma and chroma in planes of their own: what hardware encoders take.
    public var isPlanar: Bool { bytesPerPixel == nil }

    /// - Parameter fourCC: a number of drm_fourcc.h.
    public init?(_ fourCC: FourCC) {
        guard let format = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = format
    }

    /// - Parameter v4l2FourCC: a number of videodev2.h.
    public init?(v4l2 v4l2FourCC: FourCC) {
        guard let format = Self.allCases.first(where: { $0.v4l2FourCC == v4l2FourCC }) else { return nil }
        self = format
    }
}

/// A pixel format as libdrm and V4L2 number them: four characters, the first one in the lowest byte.
public struct FourCC: Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter text: at most four ASCII characters; shorter ones are filled with spaces.
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

/// Where the planes of a raw frame are, within one buffer.
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
    /// How the samples are tiled or compressed, a number of drm_fourcc.h; 0 for rows one below the other.
    public let modifier: UInt64
    public let size: FrameSize
    public let planes: [Plane]
    /// Bytes from the buffer's start to the end of the last plane.
    public let byteCount: Int

    /// Planes one behind the other with no padding: what raw files and pipes carry.
    /// Odd sizes round the chroma planes up.
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

    /// Planes where a driver has put them.
    public init(format: PixelFormat, modifier: UInt64 = 0, size: FrameSize, planes: [Plane], byteCount: Int) {
        self.format = format
        self.modifier = modifier
        self.size = size
        self.planes = planes
        self.byteCount = byteCount
    }

    /// One buffer as V4L2 lays it out: planes one behind the other, every row of the first one `stride` bytes long.
    /// - Returns: `nil` when the buffer is too small for that, or the rows for the frame.
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

/// A raw frame on lease from its source. It goes back to the source when the last holder drops it, once: copies share
/// the one lease. An encoder that takes it keeps it until it has read the last sample.
public struct CapturedFrame: Sendable {
    public let layout: FrameLayout
    /// When the frame was taken, on CLOCK_MONOTONIC.
    public let captureTime: MediaTimestamp
    /// The lease itself.
    public let memory: any FrameMemory
    /// When the frame was taken whose samples these are, in the same memory, whatever was done to them since; `nil` for a frame of
    /// its own.
    public let repeats: MediaTimestamp?
    /// When its samples were taken, however often they were given and copied since: `captureTime` of a frame of its own.
    public let takenAt: MediaTimestamp

    /// - Parameter takenAt: of the frame that this one was made of; `nil` for one that comes from its source.
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

    /// Gives the frame's bytes, `layout.byteCount` of them, for the time of the call.
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try memory.withBytes(body)
    }

    /// The DMABUF descriptor that holds the frame, for drivers that take such; it is the source's and valid as
    /// long as the lease. `nil` for frames in ordinary memory. `layout` says where in it the planes are.
    public var dmabuf: Int32? { memory.dmabuf }
}

/// Whose memory a source's frames are in: what an encoder plans its inputs for.
public enum FrameMemoryKind: Hashable, Sendable {
    /// DMABUFs of a device, which an encoder's driver may read where they are.
    case dmabuf
    /// Ordinary memory of the process.
    case pooled
}

/// The memory behind a raw frame. Dropping the last reference ends the lease.
public protocol FrameMemory: AnyObject, Sendable {
    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Changes the frame where it is, for all who hold it: for whoever has it first, on its way to them.
    /// - Returns: false where the memory is not to be written; nothing was done.
    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool

    /// See `CapturedFrame.dmabuf`.
    var dmabuf: Int32? { get }

    /// The same samples without the device that took them, which can be closed and unplugged then.
    /// - Returns: `nil` where the memory ends with the device; its bytes can be copied before.
    func detached() -> (any FrameMemory)?
}

extension FrameMemory {
    public var dmabuf: Int32? { nil }
    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool { false }
    public func detached() -> (any FrameMemory)? { nil }
}

extension FrameLayout {
    /// The one rule for the colours of a source's frames as they reach the encoder and the filters: limited range, by BT.709
    /// from 720 rows on and by BT.601 below, unless the source reports something else. RGB has neither, and is converted by
    /// the rule. Frames that are scaled, rotated or cut afterwards keep these colours.
    /// - Parameter reported: what the source knows of its luma and chroma.
    public func colors(reported: VideoColors?) -> VideoColors {
        format.isRGB ? .usual(for: size) : reported ?? .usual(for: size)
    }
}
