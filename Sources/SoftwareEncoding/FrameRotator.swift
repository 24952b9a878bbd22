import CLibYUV
import DevicePorts
import Media

/// How frames are turned before they are encoded: for cameras that hang, lie, or look into a mirror.
public struct FrameRotation: Hashable, Sendable {
    public enum Rotation: Int, CaseIterable, Sendable {
        case none = 0
        case clockwise90 = 90
        case half = 180
        case clockwise270 = 270
    }

    public var rotation: Rotation
    /// Left and right are exchanged in the turned frame.
    public var isMirrored: Bool

    public init(_ rotation: Rotation = .none, isMirrored: Bool = false) {
        self.rotation = rotation
        self.isMirrored = isMirrored
    }

    public var isIdentity: Bool { self == FrameRotation() }

    /// What a frame of `size` becomes; also what it has to be for it to become `size`.
    public func turned(_ size: FrameSize) -> FrameSize {
        switch rotation {
        case .none, .half: size
        case .clockwise90, .clockwise270: FrameSize(width: size.height, height: size.width)
        }
    }
}

/// Turns raw frames of any layout; what comes out is I420. Used from one thread.
public final class FrameRotator {
    public let target: FrameLayout
    private let turn: FrameRotation
    /// To I420 of the same size.
    private let planes: SoftwareScaler
    private var upright: [UInt8]

    /// How often a frame is read and written from the first row to the last one.
    public var passCount: Int { planes.passCount + (turn.isMirrored ? 2 : 1) }

    /// - Parameter source: with even sides.
    public init(from source: FrameLayout, _ turn: FrameRotation) throws(VideoEncodingError) {
        planes = try SoftwareScaler(from: source, to: source.size)
        target = FrameLayout(packed: .i420, size: turn.turned(source.size))
        self.turn = turn
        upright = turn.isMirrored ? [UInt8](repeating: 0, count: target.byteCount) : []
    }

    /// - Parameter bytes: a frame in the source's layout.
    /// - Returns: the turned one, in the target's.
    public func turn(_ bytes: UnsafeRawBufferPointer) throws(VideoEncodingError) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: target.byteCount)
        let status = try planes.scale(bytes) { bytes, layout throws(VideoEncodingError) -> Int32 in
            guard turn.isMirrored else { return rotate(bytes, layout, into: &frame) }
            let status = rotate(bytes, layout, into: &upright)
            return status == 0 ? mirror(upright, into: &frame) : status
        }
        guard status == 0 else { throw .libraryFailed(call: "libyuv turn", status: Int(status), reason: nil) }
        return frame
    }

    private func rotate(_ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into frame: inout [UInt8]) -> Int32 {
        let mode: RotationModeEnum =
            switch turn.rotation {
            case .none: kRotate0
            case .clockwise90: kRotate90
            case .half: kRotate180
            case .clockwise270: kRotate270
            }
        return planewise(bytes, layout, into: &frame) { source, strides, result, resultStrides in
            I420Rotate(
                source[0], strides[0], source[1], strides[1], source[2], strides[2], result[0], resultStrides[0],
                result[1], resultStrides[1], result[2], resultStrides[2], Int32(layout.size.width),
                Int32(layout.size.height), mode)
        }
    }

    private func mirror(_ given: [UInt8], into frame: inout [UInt8]) -> Int32 {
        given.withUnsafeBytes { bytes in
            planewise(bytes, target, into: &frame) { source, strides, result, resultStrides in
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
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into frame: inout [UInt8],
        _ call: ([UnsafePointer<UInt8>], [Int32], [UnsafeMutablePointer<UInt8>], [Int32]) -> Int32
    ) -> Int32 {
        guard layout.planes.count == 3, bytes.count >= layout.byteCount,
            let base = bytes.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        return frame.withUnsafeMutableBufferPointer { buffer in
            guard let result = buffer.baseAddress else { return -1 }
            return call(
                layout.planes.map { base + $0.offset }, layout.planes.map { Int32($0.stride) },
                target.planes.map { result + $0.offset }, target.planes.map { Int32($0.stride) })
        }
    }
}
