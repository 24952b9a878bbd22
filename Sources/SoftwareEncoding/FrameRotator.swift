import CLibYUV
import CTranspose
import DevicePorts
import Media

extension FrameRotation {
    /// Whether `flips` cover the whole rotation.
    public var isOfACamera: Bool { angle == .none || angle == .half }

    /// The part that a camera can do before everything else: half a turn, and mirroring.
    public var flips: FrameFlips {
        switch angle {
        case .none: FrameFlips(isHorizontal: isMirrored)
        case .half: FrameFlips(isHorizontal: !isMirrored, isVertical: true)
        // Left and right of the rotated frame are top and bottom of the camera's.
        case .clockwise90, .clockwise270: FrameFlips(isVertical: isMirrored)
        }
    }

    /// The rest of the rotation after a camera has done these flips.
    public func rest(after done: FrameFlips) -> FrameRotation {
        guard done == flips else { return self }
        return isOfACamera ? FrameRotation() : FrameRotation(angle)
    }
}

/// Rotates and mirrors raw frames of any layout into I420. NV12 and I420 need one pass; other formats are unpacked first. Used
/// from one thread.
public final class FrameRotator {
    /// How the pass is done.
    private enum Way {
        /// Quarter turns: rows become columns. Upside down means that the source's rows are read, or the target's written,
        /// starting with the last.
        case transposition(isSourceUpsideDown: Bool, isTargetUpsideDown: Bool)
        /// With libyuv, which flips before it rotates if the height is negative.
        case libyuv(RotationModeEnum, isFlipped: Bool)
    }

    public let target: FrameLayout
    /// Converts to I420 of the same size; `nil` if the source can be rotated directly.
    private let unpacker: SoftwareScaler?
    private let source: FrameLayout
    private let way: Way

    /// How often a complete frame is read and written.
    public var passCount: Int { (unpacker?.passCount ?? 0) + 1 }

    /// - Parameter source: must have even sides.
    public init(from source: FrameLayout, _ rotation: FrameRotation) throws(VideoEncodingError) {
        unpacker = source.format.isPlanar ? nil : try SoftwareScaler(from: source, to: source.size)
        let sides = 2...16_384
        guard sides.contains(source.size.width), sides.contains(source.size.height), source.size.width % 2 == 0,
            source.size.height % 2 == 0
        else { throw .unsupportedSize(source.size) }
        self.source = source
        target = FrameLayout(packed: .i420, size: rotation.rotated(source.size))
        way = Self.way(of: rotation)
    }

    private static func way(of rotation: FrameRotation) -> Way {
        let isMirrored = rotation.isMirrored
        // Mirroring a rotated frame equals rotating a flipped one, and flipping plus half a turn equals mirroring.
        return switch rotation.angle {
        case .none: .libyuv(isMirrored ? kRotate180 : kRotate0, isFlipped: isMirrored)
        case .half: .libyuv(isMirrored ? kRotate0 : kRotate180, isFlipped: isMirrored)
        case .clockwise90: .transposition(isSourceUpsideDown: !isMirrored, isTargetUpsideDown: false)
        case .clockwise270: .transposition(isSourceUpsideDown: isMirrored, isTargetUpsideDown: true)
        }
    }

    /// - Parameters:
    ///   - bytes: a frame in the source's layout.
    ///   - memory: receives the rotated frame in the target's layout. Every byte of the frame is written.
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

    /// - Returns: libyuv's status; -1 for an empty buffer.
    private func rotate(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into memory: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        guard let from = bytes.bindMemory(to: UInt8.self).baseAddress,
            let to = memory.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        return switch way {
        case .transposition(let isSourceUpsideDown, let isTargetUpsideDown):
            transpose(
                from, layout, isSourceUpsideDown: isSourceUpsideDown, into: to, isTargetUpsideDown: isTargetUpsideDown)
        case .libyuv(let mode, let isFlipped): rotateByLibYUV(from, layout, into: to, mode, isFlipped: isFlipped)
        }
    }

    private func transpose(
        _ from: UnsafePointer<UInt8>, _ layout: FrameLayout, isSourceUpsideDown: Bool,
        into to: UnsafeMutablePointer<UInt8>, isTargetUpsideDown: Bool
    ) -> Int32 {
        let (width, height) = (layout.size.width, layout.size.height)
        func given(_ plane: Int) -> FrameLayout.Rows { layout.rows(of: plane, isUpsideDown: isSourceUpsideDown) }
        func made(_ plane: Int) -> FrameLayout.Rows { target.rows(of: plane, isUpsideDown: isTargetUpsideDown) }
        func transpose(_ plane: Int, width: Int, height: Int) {
            let (given, made) = (given(plane), made(plane))
            ctranspose_plane(to + made.start, made.stride, from + given.start, given.stride, width, height)
        }
        switch (layout.format, layout.planes.count) {
        case (.nv12, 2):
            let (pairs, u, v) = (given(1), made(1), made(2))
            transpose(0, width: width, height: height)
            ctranspose_pairs(
                to + u.start, to + v.start, u.stride, from + pairs.start, pairs.stride, width / 2, height / 2)
        case (.i420, 3):
            transpose(0, width: width, height: height)
            transpose(1, width: width / 2, height: height / 2)
            transpose(2, width: width / 2, height: height / 2)
        default: return -1
        }
        return 0
    }

    private func rotateByLibYUV(
        _ from: UnsafePointer<UInt8>, _ layout: FrameLayout, into to: UnsafeMutablePointer<UInt8>,
        _ mode: RotationModeEnum, isFlipped: Bool
    ) -> Int32 {
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

extension FrameLayout {
    /// Offset of the first row and distance to the next. For an upside-down plane, this starts with the last row and goes up.
    fileprivate typealias Rows = (start: Int, stride: Int)

    /// For NV12 or I420.
    fileprivate func rows(of plane: Int, isUpsideDown: Bool) -> Rows {
        let (offset, stride) = (planes[plane].offset, planes[plane].stride)
        guard isUpsideDown else { return (offset, stride) }
        let count = plane == 0 ? size.height : size.height / 2
        return (offset + (count - 1) * stride, -stride)
    }
}
