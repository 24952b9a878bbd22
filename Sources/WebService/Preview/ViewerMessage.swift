import Bitstream

/// A message to a viewer of the live preview.
public enum ViewerMessage: Hashable, Sendable {
    /// Before the first fragment, and again when size, codec or stream change. The next fragment starts with a keyframe.
    case start(MP4LiveFragments.Start)
    /// - Parameter isKeyframe: whether a player can start here, after the latest `start`.
    case fragment([UInt8], isKeyframe: Bool)
    /// The stream is over. If another one follows, it begins with `start`.
    case ended
}
