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

/// Rotates and mirrors raw frames of any layout; what comes out is I420. Used from one thread.
public final class FrameRotator {
    public let target: FrameLayout
    private let rotation: FrameRotation
    /// To I420 of the same size.
    private let planes: SoftwareScaler
    private var upright: [UInt8]

    /// How often a frame is read and written from the first row to the last one.
    public var passCount: Int { planes.passCount + (rotation.isMirrored ? 2 : 1) }

    /// - Parameter source: with even sides.
    public init(from source: FrameLayout, _ rotation: FrameRotation) throws(VideoEncodingError) {
        planes = try SoftwareScaler(from: source, to: source.size)
        target = FrameLayout(packed: .i420, size: rotation.rotated(source.size))
        self.rotation = rotation
        upright = rotation.isMirrored ? [UInt8](repeating: 0, count: target.byteCount) : []
    }

    /// - Parameters:
    ///   - bytes: a frame in the source's layout.
    ///   - memory: gets the rotated one, in the target's; every byte of it is written.
    public func rotate(
        _ bytes: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) {
        guard memory.count >= target.byteCount else { throw .incompleteFrame(target, byteCount: memory.count) }
        let status = try planes.scale(bytes) { bytes, layout throws(VideoEncodingError) -> Int32 in
            guard rotation.isMirrored else { return rotate(bytes, layout, into: memory) }
            let status = upright.withUnsafeMutableBytes { rotate(bytes, layout, into: $0) }
            return status == 0 ? mirror(upright, into: memory) : status
        }
        guard status == 0 else { throw .libraryFailed(call: "libyuv rotate", status: Int(status), reason: nil) }
    }

    private func rotate(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into memory: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        let mode: RotationModeEnum =
            switch rotation.angle {
            case .none: kRotate0
            case .clockwise90: kRotate90
            case .half: kRotate180
            case .clockwise270: kRotate270
            }
        return planewise(bytes, layout, into: memory) { source, strides, result, resultStrides in
            I420Rotate(
                source[0], strides[0], source[1], strides[1], source[2], strides[2], result[0], resultStrides[0],
                result[1], resultStrides[1], result[2], resultStrides[2], Int32(layout.size.width),
                Int32(layout.size.height), mode)
        }
    }

    private func mirror(_ given: [UInt8], into memory: UnsafeMutableRawBufferPointer) -> Int32 {
        given.withUnsafeBytes { bytes in
            planewise(bytes, target, into: memory) { source, strides, result, resultStrides in
                I420Mirror(
                    source[0], strides[0], source[1], strides[1], source[2], strides[2], result[0], resultStrides[0],
                    result[1], resultStrides[1], result[2], resultStrides[2], Int32(target.size.width),
                    Int32(target.size.height))
            }
        }
    }

    /// Calls libyuv with the planes of a frame and of the target, and their strides.
    /// - Returns: its status; -1 when there is no memory to look at.
    private func planewise(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into memory: UnsafeMutableRawBufferPointer,
        _ call: ([UnsafePointer<UInt8>], [Int32], [UnsafeMutablePointer<UInt8>], [Int32]) -> Int32
    ) -> Int32 {
        guard layout.planes.count == 3, bytes.count >= layout.byteCount,
            let base = bytes.bindMemory(to: UInt8.self).baseAddress,
            let result = memory.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        return call(
            layout.planes.map { base + $0.offset }, layout.planes.map { Int32($0.stride) },
            target.planes.map { result + $0.offset }, target.planes.map { Int32($0.stride) })
    }
}
