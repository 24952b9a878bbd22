/// A rotation by quarter turns, and a mirror: for cameras that hang, lie, or look into a mirror, and for movies that were
/// recorded so.
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

    /// Both in one: this rotation first, then the other.
    public func followed(by next: FrameRotation) -> FrameRotation {
        // A turn behind a mirror is the opposite turn before it.
        let degrees = angle.rawValue + (isMirrored ? 360 - next.angle.rawValue : next.angle.rawValue)
        return FrameRotation(Angle(rawValue: degrees % 360) ?? .none, isMirrored: isMirrored != next.isMirrored)
    }

    /// What a frame of `size` becomes; also what it has to be for it to become `size`.
    public func rotated(_ size: FrameSize) -> FrameSize {
        switch angle {
        case .none, .half: size
        case .clockwise90, .clockwise270: FrameSize(width: size.height, height: size.width)
        }
    }
}
