import Media
import StreamQuality

/// The properties of a running stream that decide how its configuration can change.
public struct RunningStream: Sendable {
    /// Whether a server has accepted the stream.
    public var isLive: Bool
    /// Whether the audio source can deliver any sample rate that is requested; a file or pipe cannot.
    public var takesSampleRate: Bool
    /// The configuration that the video encoder was opened with; `nil` without video.
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
        /// It already has this configuration.
        case nothing
        /// The change is not possible: nothing changes and the stream continues.
        case refuse(CommandRefusal)
        /// Apply all of it at one keyframe, within the stream.
        /// - Parameter replacesEncoder: the level in the encoder's header is too low. A new encoder of the same profile
        ///   replaces it; players accept the new header within the stream.
        case change(replacesEncoder: Bool)
        /// Stop and start the stream once: players could not follow the change within the stream.
        case restart
    }

    /// - Parameter controller: the controller for this configuration's settings, at its current operating point.
    public func plan(
        for wanted: LiveConfiguration, of stream: RunningStream, controller: QualityController
    ) -> Plan {
        guard wanted != self else { return .nothing }
        guard stream.isLive else { return .refuse(.notStarted) }
        let rate = wanted.settings.audioQuality?.sampleRate
        guard rate == settings.audioQuality?.sampleRate || stream.takesSampleRate else {
            return .refuse(.fixedSampleRate)
        }
        do throws(QualityError) {
            if let quality = wanted.settings.videoQuality {
                _ = try quality.level(for: wanted.dimension.size, upTo: wanted.settings.bitrateRange.maximum)
            }
        } catch {
            return .refuse(.quality(error))
        }
        guard wanted.dimension == dimension, !controller.restarts(for: wanted.settings) else { return .restart }
        return .change(replacesEncoder: stream.encoder.map { !wanted.fits($0) } ?? false)
    }

    /// Whether the level in the encoder's header covers the highest rate of these settings.
    private func fits(_ encoder: VideoEncoderConfiguration) -> Bool {
        guard let quality = settings.videoQuality, encoder.size == dimension.size else { return true }
        let maximum = max(quality.bitrate, settings.bitrateRange.maximum)
        return encoder.level.carries(encoder.size, at: quality.frameRate, bitrate: maximum)
    }
}
