import AudioCapture
import DevicePorts
import LinuxIO
import Media
import RTMP
import SoftwareEncoding
import StreamQuality
import SyntheticSources

/// What the encoder and audio threads tell the main thread.
enum TrackReport: Sendable {
    enum Track: String, Sendable {
        case video, audio
    }

    /// The track's last packet is in the queue. A note when the source ended by itself.
    case ended(Track, note: String?)
    case buffer([SendBufferEvent])
    case failed(CommandFailure)
}

/// Sources and encoders of a stream, opened before the server is bothered, and the threads they run on.
struct MediaTracks {
    let metadata: StreamMetadata
    let encoderName: String?
    private let options: PublishOptions
    private let stop: EventFD

    init(options: PublishOptions, stop: EventFD, console: Console) throws {
        self.options = options
        self.stop = stop
        _ = console
        metadata = StreamMetadata(video: nil, audio: nil)
        encoderName = nil
    }
}
