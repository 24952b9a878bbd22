import Encoding
import Media
import MediaPipeline
import StreamQuality

/// A hub with the buffer of one target, which receives everything from now on.
public struct HubWithTarget {
    public let hub: PacketHub
    public let target: SinkBuffer

    public init(
        tracks: Int = 1, hasVideo: Bool = true, requestKeyframe: @escaping @Sendable () -> Void = {}
    ) throws {
        hub = PacketHub(tracks: tracks, requestKeyframe: requestKeyframe)
        target = try SinkBuffer(of: hub, .target(.standard), hasVideo: hasVideo)
        hub.add(target, isLeading: true)
        hub.restart(target)
    }
}
