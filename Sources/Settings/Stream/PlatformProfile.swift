/// What a live service requires of a stream, so that a refusal can be avoided.
public struct PlatformProfile: Hashable, Sendable {
    public enum Resizing: Sendable {
        /// The service refuses another size, or its behavior is unknown.
        case never
        /// The service bridges the gap between two streams.
        case byRestart
        /// Within the stream.
        case seamless
    }

    public let name: String
    /// The keyframe interval that the service requires.
    public let keyframeInterval: Duration
    /// The longest interval that it accepts.
    public let longestKeyframeInterval: Duration
    /// A stream without an audio track is refused or never shown; silence is enough.
    public let requiresAudio: Bool
    /// The frame size may change during the stream.
    public let allowsSizeChange: Bool
    /// The best way to change the frame size while live (docs/services).
    public let resizing: Resizing
    /// Plain RTMP is refused.
    public let requiresTLS: Bool

    /// Two seconds between keyframes suit all services that are not known by name.
    public static let `default` = PlatformProfile(
        name: "default", keyframeInterval: .seconds(2), longestKeyframeInterval: .seconds(10), requiresAudio: false,
        allowsSizeChange: true, resizing: .seamless, requiresTLS: false)
    public static let pili = PlatformProfile(
        name: "Pili", keyframeInterval: .seconds(2), longestKeyframeInterval: .seconds(10), requiresAudio: false,
        allowsSizeChange: true, resizing: .never, requiresTLS: false)
    public static let youTube = PlatformProfile(
        name: "YouTube", keyframeInterval: .seconds(2), longestKeyframeInterval: .seconds(4), requiresAudio: true,
        allowsSizeChange: false, resizing: .byRestart, requiresTLS: false)
    public static let twitch = PlatformProfile(
        name: "Twitch", keyframeInterval: .seconds(2), longestKeyframeInterval: .seconds(2), requiresAudio: false,
        allowsSizeChange: false, resizing: .never, requiresTLS: false)
    public static let facebook = PlatformProfile(
        name: "Facebook", keyframeInterval: .seconds(2), longestKeyframeInterval: .seconds(2), requiresAudio: true,
        allowsSizeChange: false, resizing: .never, requiresTLS: true)

    /// The profile for a plain URL. A Pili stream is recognized by its file rather than its host.
    /// - Parameter host: a name or an address, without port.
    public init(host: String) {
        let host = host.lowercased()
        let domains: [(String, PlatformProfile)] = [
            ("youtube.com", .youTube), ("twitch.tv", .twitch), ("live-video.net", .twitch), ("facebook.com", .facebook),
        ]
        let known = domains.first { host == $0.0 || host.hasSuffix("." + $0.0) }?.1
        self = known ?? (host.hasPrefix("pili-publish.") ? .pili : .default)
    }

    private init(
        name: String, keyframeInterval: Duration, longestKeyframeInterval: Duration, requiresAudio: Bool,
        allowsSizeChange: Bool, resizing: Resizing, requiresTLS: Bool
    ) {
        self.name = name
        self.keyframeInterval = keyframeInterval
        self.longestKeyframeInterval = longestKeyframeInterval
        self.requiresAudio = requiresAudio
        self.allowsSizeChange = allowsSizeChange
        self.resizing = resizing
        self.requiresTLS = requiresTLS
    }
}
