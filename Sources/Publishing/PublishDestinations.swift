import Encoding
import Media
import MediaPipeline
import Settings
import StreamLogic
import StreamQuality

/// A stream's servers, and what all of them together accept.
public struct PublishDestinations: Sendable {
    /// The quality follows the first one's link. The others get the same stream, without packets that do not fit their links.
    /// Empty for a stream that is only recorded or viewed.
    public let all: [PublishDestination]
    /// See `StreamDescription.pauseImage`.
    let pauseImage: String?

    public init(_ all: [PublishDestination]) {
        self.all = all
        pauseImage = nil
    }

    /// - Parameters: as for a `PublishDestination`.
    public init(
        _ stream: StreamDescription, path: String? = nil, stateDirectory: String, authorityFile: String? = nil
    ) {
        func destination(_ target: TargetDescription) -> PublishDestination {
            PublishDestination(target, path: path, stateDirectory: stateDirectory, authorityFile: authorityFile)
        }
        all = ([stream.leading] + stream.others).map(destination)
        pauseImage = stream.pauseImage
    }

    public var leading: PublishDestination? { all.first }

    /// Whether any connection is encrypted.
    public var usesTLS: Bool { all.contains(where: \.usesTLS) }

    /// The media settings as all services accept them. Throws for a stream that one of them would refuse or never show.
    /// - Parameter warnings: receives the changes.
    public func fitted(_ media: MediaSettings, warnings: inout [String]) throws(StreamFailure) -> MediaSettings {
        for destination in all { try destination.checkSecurity() }
        let platforms = all.map(\.platform)
        var media = media
        // A late joiner waits for a keyframe, but no longer than four seconds.
        media.keyframes = KeyframeSpacing(
            usual: platforms.map(\.keyframeInterval).min() ?? .seconds(2),
            longest: platforms.map(\.longestKeyframeInterval).reduce(.seconds(4), min))
        if let platform = platforms.first(where: \.requiresAudio), media.audio.isNone {
            media.addSilence()
            warnings.append("\(platform.name) does not show streams without audio; sending silence")
        }
        return media
    }

    /// How the frame size changes by default: as all services accept it.
    public var usualResizePolicy: ResizePolicy {
        let resizings = all.map(\.platform.resizing)
        if resizings.contains(.never) { return .never }
        return resizings.contains(.byRestart) ? .restart : .seamless
    }

    /// Warns of how a service may handle frames whose size changes like that; `nil` if all accept them.
    public func warning(of policy: ResizePolicy) -> String? { all.lazy.compactMap { $0.warning(of: policy) }.first }

    /// The video's highest bit rate that all servers accept, and a server that accepts no more; `nil` without a limit.
    private var bitrateLimit: (bitrate: Bitrate, by: PublishDestination)? {
        all.compactMap { server in server.highestBitrate.map { ($0, by: server) } }.min { $0.0 < $1.0 }
    }

    /// Lowers the bit rates to what all servers accept.
    /// - Returns: what was lowered, for people; `nil` if nothing was.
    public func limit(_ range: inout BitrateRange) -> String? {
        guard let (bitrate, server) = bitrateLimit, bitrate < range.maximum else { return nil }
        let wanted = range.maximum
        range = BitrateRange(minimum: range.minimum, start: range.start, maximum: bitrate)
        return "\(server.name ?? server.label) accepts at most \(Int(bitrate.kilobitsPerSecond)) kbit/s of video, "
            + "and \(Int(wanted.kilobitsPerSecond)) are requested"
    }
}
