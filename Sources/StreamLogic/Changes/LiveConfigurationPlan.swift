import Media
import StreamQuality

/// What bears on a change of a stream that runs.
public struct RunningStream: Sendable {
    /// Whether the server has taken it.
    public var isLive: Bool
    /// Whether audio comes at the rate that is asked for; that of a file or pipe is what it is.
    public var takesSampleRate: Bool
    /// What the video encoder was opened with; `nil` without video.
    public var encoder: VideoEncoderConfiguration?

    public init(isLive: Bool, takesSampleRate: Bool, encoder: VideoEncoderConfiguration?) {
        self.isLive = isLive
        self.takesSampleRate = takesSampleRate
        self.encoder = encoder
    }
}

extension LiveConfiguration {
    /// How a stream gets another configuration.
    public enum Plan: Hashable, Sendable {
        /// It has it.
        case nothing
        /// It cannot have it: nothing changes, and the stream goes on.
        case refuse(reason: String)
        /// All of it at one keyframe, within the stream.
        /// - Parameter replacesEncoder: the encoder's header announces too little for it. Another one of the same
        ///   profile takes its place, whose header players take within the stream.
        case change(replacesEncoder: Bool)
        /// By one end and start: players could not follow within the stream.
        case restart
    }

    /// - Parameter controller: of this configuration's settings, at the operating point that it has come to.
    public func plan(
        for wanted: LiveConfiguration, of stream: RunningStream, controller: QualityController
    ) -> Plan {
        guard wanted != self else { return .nothing }
        guard stream.isLive else { return .refuse(reason: "the stream has not started") }
        let rate = wanted.settings.audioQuality?.sampleRate
        guard rate == settings.audioQuality?.sampleRate || stream.takesSampleRate else {
            return .refuse(reason: "the sample rate is that of the file or pipe the audio comes from")
        }
        do {
            if let quality = wanted.settings.videoQuality {
                _ = try quality.level(for: wanted.dimension.size, upTo: wanted.settings.bitrateRange.maximum)
            }
        } catch {
            return .refuse(reason: "\(error)")
        }
        guard wanted.dimension == dimension, !controller.restarts(for: wanted.settings) else { return .restart }
        return .change(replacesEncoder: stream.encoder.map { !wanted.fits($0) } ?? false)
    }

    /// Whether the header of the encoder announces as much as is asked for at most.
    private func fits(_ encoder: VideoEncoderConfiguration) -> Bool {
        guard let quality = settings.videoQuality, encoder.size == dimension.size else { return true }
        let maximum = max(quality.bitrate, settings.bitrateRange.maximum)
        return encoder.level.carries(encoder.size, at: quality.frameRate, bitrate: maximum)
    }
}
