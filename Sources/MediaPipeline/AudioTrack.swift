import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality

/// The audio's source and encoder, opened and matched to each other.
struct AudioTrack {
    let source: any AudioSource
    let encoder: AACEncoder
    let content: AudioContent
    let hasMicrophone: Bool
    /// Reopens it at another sample rate. The previous one must be closed, because a microphone allows one user.
    let reopen: @Sendable (AudioQuality) throws -> AudioTrack?

    /// - Parameter bitrate: the initial bit rate; `nil` for the quality's own.
    init?(settings: MediaSettings, bitrate: Bitrate?, stop: EventFD, reports: Mailbox<TrackEvent>) throws {
        guard let source = try Self.source(settings, stop: stop, reports: reports) else { return nil }
        self.source = source
        hasMicrophone = !settings.audio.microphones.isEmpty
        let bitrate = bitrate ?? settings.audioQuality.bitrate
        do {
            encoder = try AACEncoder(format: source.format, bitrate: bitrate)
        } catch {
            throw StreamFailure(.unsupportedSampleRate, "\(error)")
        }
        reopen = { quality in
            var changed = settings
            changed.audioQuality = quality
            return try AudioTrack(settings: changed, bitrate: quality.bitrate, stop: stop, reports: reports)
        }
        content = AudioContent(
            bitrate: bitrate, sampleRate: source.format.sampleRate, channelCount: source.format.channelCount)
    }

    static func source(
        _ settings: MediaSettings, stop: EventFD, reports: Mailbox<TrackEvent>
    ) throws -> (any AudioSource)? {
        do {
            return try settings.audio.open(sampleRate: settings.audioQuality.sampleRate, stop: stop) {
                reports.send(.audio($0))
            }
        } catch {
            throw StreamFailure(.microphoneUnavailable, "\(error)")
        }
    }
}

/// The contents of a stream's audio packets.
public struct AudioContent: Hashable, Sendable {
    public var bitrate: Bitrate
    public var sampleRate: Int
    public var channelCount: Int
}
