import CLibYUV
import DevicePorts
import Media

/// How frames are rotated and mirrored before they are encoded: for cameras that hang, lie, or look into a mirror.
public struct FrameRotation: Hashable, Sendable {
    public enum Angle: Int, CaseIterable, Sendable {
        case none = 0
        case clockwise90 = 90
        case half = 180
        case clockwise270 = 270
    }

    public var angle: Angle
    /// Left and right are exchanged in the rotated frame.
    public var isMirrored: Bool

    public init(_ angle: Angle = .none, isMirrored: Bool = false) {
        self.angle = angle
        self.isMirrored = isMirrored
    }

    public var isIdentity: Bool { self == FrameRotation() }

    /// Whether `flips` are all that there is to do.
    public var isOfACamera: Bool { angle == .none || angle == .half }

    /// What a camera can do of it, before all else: half a turn, and the mirror.
    public var flips: FrameFlips {
        switch angle {
        case .none: FrameFlips(isHorizontal: isMirrored)
        case .half: FrameFlips(isHorizontal: !isMirrored, isVertical: true)
        // Left and right of the rotated frame are top and bottom of the camera's.
        case .clockwise90, .clockwise270: FrameFlips(isVertical: isMirrored)
        }
    }

    /// What is left to do where a camera has done these.
    public func rest(after done: FrameFlips) -> FrameRotation {
        guard done == flips else { return self }
        return isOfACamera ? FrameRotation() : FrameRotation(angle)
    }

    /// What a frame of `size` becomes; also what it has to be for it to become `size`.
    public func rotated(_ size: FrameSize) -> FrameSize {
        switch angle {
        case .none, .half: size
        case .clockwise90, .clockwise270: FrameSize(width: size.height, height: size.width)
        }
    }
}

/// Rotates and mirrors raw frames of any layout; what comes out is I420. NV12 and I420 go through in one pass, others are
/// unpacked before. Used from one thread.
public final class FrameRotator {
    public let target: FrameLayout
    /// To I420 of the same size; `nil` where libyuv rotates what comes.
    private let unpacker: SoftwareScaler?
    private let source: FrameLayout
    /// What libyuv is asked for: it flips before it rotates where the height is negative.
    private let mode: RotationModeEnum
    private let isFlipped: Bool

    /// How often a frame is read and written from the first row to the last one.
    public var passCount: Int { (unpacker?.passCount ?? 0) + 1 }

    /// - Parameter source: with even sides.
    public init(from source: FrameLayout, _ rotation: FrameRotation) throws(VideoEncodingError) {
        unpacker = source.format.isPlanar ? nil : try SoftwareScaler(from: source, to: source.size)
        let sides = 2...16_384
        guard sides.contains(source.size.width), sides.contains(source.size.height), source.size.width % 2 == 0,
            source.size.height % 2 == 0
        else { throw .unsupportedSize(source.size) }
        self.source = source
        target = FrameLayout(packed: .i420, size: rotation.rotated(source.size))
        isFlipped = rotation.isMirrored
        // To mirror what was rotated is to rotate what was flipped, and a frame that is flipped and then turned around is mirrored.
        mode =
            switch (rotation.angle, rotation.isMirrored) {
            case (.none, false), (.half, true): kRotate0
            case (.clockwise90, _): kRotate90
            case (.half, false), (.none, true): kRotate180
            case (.clockwise270, _): kRotate270
            }
    }

    /// - Parameters:
    ///   - bytes: a frame in the source's layout.
    ///   - memory: gets the rotated one, in the target's; every byte of it is written.
    public func rotate(
        _ bytes: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) {
        guard memory.count >= target.byteCount else { throw .incompleteFrame(target, byteCount: memory.count) }
        let status: Int32
        if let unpacker {
            status = try unpacker.scale(bytes) { bytes, layout throws(VideoEncodingError) in
                rotate(bytes, layout, into: memory)
            }
        } else {
            guard bytes.count >= source.byteCount else { throw .incompleteFrame(source, byteCount: bytes.count) }
            status = rotate(bytes, source, into: memory)
        }
        guard status == 0 else { throw .libraryFailed(call: "libyuv rotate", status: Int(status), reason: nil) }
    }

    /// - Returns: libyuv's status; -1 when there is no memory to look at.
    private func rotate(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into memory: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        guard let from = bytes.bindMemory(to: UInt8.self).baseAddress,
            let to = memory.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        let width = Int32(layout.size.width)
        let height = Int32(isFlipped ? -layout.size.height : layout.size.height)
        func given(_ plane: Int) -> UnsafePointer<UInt8> { from + layout.planes[plane].offset }
        func stride(_ plane: Int) -> Int32 { Int32(layout.planes[plane].stride) }
        func made(_ plane: Int) -> UnsafeMutablePointer<UInt8> { to + target.planes[plane].offset }
        func madeStride(_ plane: Int) -> Int32 { Int32(target.planes[plane].stride) }
        switch (layout.format, layout.planes.count) {
        case (.nv12, 2):
            return NV12ToI420Rotate(
                given(0), stride(0), given(1), stride(1), made(0), madeStride(0), made(1), madeStride(1), made(2),
                madeStride(2), width, height, mode)
        case (.i420, 3):
            return I420Rotate(
                given(0), stride(0), given(1), stride(1), given(2), stride(2), made(0), madeStride(0), made(1),
                madeStride(1), made(2), madeStride(2), width, height, mode)
        default: return -1
        }
    }
}
