import CLibYUV
import CTranspose
import DevicePorts
import Media

extension FrameRotation {
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
}

/// Rotates and mirrors raw frames of any layout; what comes out is I420. NV12 and I420 go through in one pass, others are
/// unpacked before. Used from one thread.
public final class FrameRotator {
    /// Who has the pass.
    private enum Way {
        /// Quarter turns: rows become columns, after the source's rows were read from the last one on, and before the target's are
        /// written so.
        case transposition(isSourceUpsideDown: Bool, isTargetUpsideDown: Bool)
        /// libyuv, which flips before it rotates where the height is negative.
        case libyuv(RotationModeEnum, isFlipped: Bool)
    }

    public let target: FrameLayout
    /// To I420 of the same size; `nil` where what comes is rotated as it is.
    private let unpacker: SoftwareScaler?
    private let source: FrameLayout
    private let way: Way

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
        way = Self.way(of: rotation)
    }

    private static func way(of rotation: FrameRotation) -> Way {
        let isMirrored = rotation.isMirrored
        // To mirror what was rotated is to rotate what was flipped, and a frame that is flipped and then turned around is mirrored.
        return switch rotation.angle {
        case .none: .libyuv(isMirrored ? kRotate180 : kRotate0, isFlipped: isMirrored)
        case .half: .libyuv(isMirrored ? kRotate0 : kRotate180, isFlipped: isMirrored)
        case .clockwise90: .transposition(isSourceUpsideDown: !isMirrored, isTargetUpsideDown: false)
        case .clockwise270: .transposition(isSourceUpsideDown: isMirrored, isTargetUpsideDown: true)
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
    /// Where the first row starts, and how far behind it the next one: of an upside down plane, the last row, and the one above.
    fileprivate typealias Rows = (start: Int, stride: Int)

    /// Of NV12 or I420.
    fileprivate func rows(of plane: Int, isUpsideDown: Bool) -> Rows {
        let (offset, stride) = (planes[plane].offset, planes[plane].stride)
        guard isUpsideDown else { return (offset, stride) }
        let count = plane == 0 ? size.height : size.height / 2
        return (offset + (count - 1) * stride, -stride)
    }
}
