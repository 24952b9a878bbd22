import Encoding
import LinuxIO
import MediaPipeline
import StreamLogic
import StreamQuality

/// A stream's settings, checked.
public struct PublishSettings {
    public enum Pace: String, Sendable {
        /// By the file's timestamps.
        case realtime
        /// As fast as the connection accepts it.
        case fast
    }

    public let destinations: PublishDestinations
    public var media: MediaSettings
    public var quality: QualitySettings
    public var statusInterval: Duration
    public var reconnectLimit: ReconnectPolicy.Limit
    public var timeouts = StepTimeouts()
    /// Reads and writes the files of a connection.
    public var card = CardCalls.onCallingThread
    /// Whether every measurement of the quality controller is an event.
    public var isTraced = false
    public var pace = Pace.realtime
    /// From the start on, until it is changed.
    public var isMuted = false
    /// From the start until a command ends the pause.
    public var isPaused = false
    /// A PNG or JPEG file that is shown in a pause, at first the destinations'; `nil` for the last frame before it.
    public var pauseImage: String?
    /// The name that text filters write for `{name}`.
    public var deviceName = FilterStatus().name
    /// Keeps the stream's packets; `nil` if nothing is recorded.
    public var archive: (any PacketArchive)?
    /// Takes the stream's packets for viewers; `nil` without them.
    public var viewer: (any PacketSink)?
    /// Whether media starts at once, for archive and viewer, rather than when a server accepts the stream.
    public var startsAtOnce = false
    /// Warnings for the log.
    public var warnings: [String] = []

    public init(
        destinations: PublishDestinations, media: MediaSettings, quality: QualitySettings,
        statusInterval: Duration = .seconds(3), reconnectLimit: ReconnectPolicy.Limit = .attempts(3)
    ) {
        self.destinations = destinations
        pauseImage = destinations.pauseImage
        self.media = media
        self.media.mayResize = quality.isAutomatic && quality.resize != .never
        self.quality = quality
        self.statusInterval = statusInterval
        self.reconnectLimit = reconnectLimit
    }
}
