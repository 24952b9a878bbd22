/// A rotation by quarter turns, and a mirror: for cameras that are mounted upside down, on their side or facing a
/// mirror, and for movies recorded that way.
public struct FrameRotation: Hashable, Sendable {
    public enum Angle: Int, CaseIterable, Sendable {
        case none = 0
        case clockwise90 = 90
        case half = 180
        case clockwise270 = 270
    }

    public var angle: Angle
    /// Left and right are swapped in the rotated frame.
    public var isMirrored: Bool

    public init(_ angle: Angle = .none, isMirrored: Bool = false) {
        self.angle = angle
        self.isMirrored = isMirrored
    }

    public var isIdentity: Bool { self == FrameRotation() }

    /// The combination of this rotation and a second one after it.
    public func followed(by next: FrameRotation) -> FrameRotation {
        // A turn after a mirror is the opposite turn before it.
        let degrees = angle.rawValue + (isMirrored ? 360 - next.angle.rawValue : next.angle.rawValue)
        return FrameRotation(Angle(rawValue: degrees % 360) ?? .none, isMirrored: isMirrored != next.isMirrored)
    }

    /// The size of a rotated frame of `size`; also the size that becomes `size` when rotated.
    public func rotated(_ size: FrameSize) -> FrameSize {
        switch angle {
        case .none, .half: size
        case .clockwise90, .clockwise270: FrameSize(width: size.height, height: size.width)
        }
    }
}
