import Bitstream
import Controls
import Filters
import Media
import StreamQuality

/// The states of a stream that its owner sees.
public enum StreamState: String, CaseIterable, Sendable {
    case unknown
    case connecting
    /// A server has accepted the stream.
    case live
    case disconnecting
    /// Ended on request.
    case disconnected
    case reconnecting
    /// Ended by a failure.
    case error
}

/// Why a connection failed, with the text and number of the layer that detected it.
public struct ConnectionFailure: Error, Hashable, Sendable {
    /// A negative number of `EventCode`.
    public let code: Int
    /// For people, without secrets.
    public let text: String
    /// Retrying is useless until a setting is changed.
    public let isPermanent: Bool

    public init(code: Int, text: String, isPermanent: Bool = false) {
        self.code = code
        self.text = text
        self.isPermanent = isPermanent
    }
}

public enum StreamTrack: String, Sendable {
    case video, audio
}

/// The properties of a device's output.
public enum SourceStart: Hashable, Sendable {
    /// - Parameter 0: its name in the stream, or the driver's name.
    case camera(String, FrameSize, FrameRate)
    case microphone(sampleRate: Int, channelCount: Int)
}

/// A device delivers its first frame or samples, was lost during the stream, or has returned.
public enum SourceEvent: Hashable, Sendable {
    case started(SourceStart)
    case interrupted(StreamTrack, source: String, reason: String)
    case returned(StreamTrack, source: String, after: Duration)
}

/// An event of a stream, for its owner. `EventRendering` has the texts.
///
/// Large payloads are boxed: most events are small and frequent.
public enum StreamEvent: Hashable, Sendable {
    // The connection.
    case stateChanged(StreamState)
    case connected(server: String)
    /// The connection uses less of TLS than usual. Reported once for each server.
    case tlsFallback(reason: String)
    /// - Parameter destination: URL without secrets.
    case publishing(destination: String)
    /// A failure that leads to another attempt.
    case retry(ConnectionFailure, RetryStage)
    /// - Parameters:
    ///   - attempt: from 1.
    ///   - limit: the most attempts; `nil` if unlimited.
    ///   - delay: time until the attempt starts.
    case reconnecting(attempt: Int, limit: Int?, delay: Duration)
    case serverChanged
    case serverChangeFailed(ConnectionFailure)
    /// The link that carries the stream lost its carrier.
    case linkDown
    /// A link that may lead to the server has a carrier and an address.
    case linkUp

    // Sent media.
    indirect case status(StreamStatus)
    indirect case fileStatus(FileStreamStatus)
    indirect case qualityChanged(QualityChange)
    /// - Parameter bitrate: the link's estimated rate.
    case uplinkTooSlow(bitrate: Bitrate)
    indirect case measured(StreamMeasurement, linkEstimate: Bitrate?)

    // The send buffer.
    case bufferEmpty
    case bufferHigh
    case bufferLow
    case bufferFull
    /// The buffer is full because nothing leaves it: there is no connection, or the server acknowledges nothing.
    case serverAway
    case bufferDuration(Duration)
    /// - Parameter time: since the stream's time zero.
    case dropped(DroppedItem, time: Duration)

    // Encoders and sources.
    case softwareEncoderInUse(reason: String)
    case encoderRestarted(reason: String)
    /// Software continues; the hardware is still retried, but rarely.
    case hardwareEncoderDead(reason: String)
    case source(SourceEvent)
    /// A file or pipe ended.
    case sourceEnded(StreamTrack, note: String)
    /// The filter takes too much time: frames are sent without it until there is enough.
    case filterDropped(FilterID)
    case filterRestored(FilterID)
    /// The first frame of another camera was encoded.
    /// - Parameter after: time since the request.
    case cameraSwitched(from: String, to: String, after: Duration)
    /// The requested camera cannot be used.
    /// - Parameter keeping: the camera that stays on.
    case cameraSwitchFailed(String, reason: String, keeping: String)

    // Requested while live.
    /// - Parameter configuration: all settings after the change.
    indirect case configured(LiveConfiguration)
    /// - Parameter readings: each control that was set, with the camera's reading of it.
    indirect case controlled([ControlReading])
    /// - Parameter chain: all filters after the change.
    indirect case filtered(FilterChain)
    indirect case refused(CommandRefusal)
    case muted(Bool)
    case paused(Bool)
    case pauseImageUnusable(reason: String)
    /// The answer to a snapshot request.
    indirect case snapshot(SnapshotAnswer)

    // Independent of the stream.
    case preview(PreviewEvent)

    // The end.
    /// Properly, with the totals.
    indirect case ended(EncodedCounters, SentCounters, audioSeconds: Double)
    indirect case fileEnded(MediaTally)
    /// By a failure.
    /// - Parameter code: `nil` if the failure has no code.
    case failed(EventCode?, message: String)

    /// How far an attempt got before it failed.
    public enum RetryStage: Hashable, Sendable {
        case lookup
        case connect
        case handshake
        /// The stream was live, or about to be.
        case close
    }
}

extension StreamEvent {
    /// The events for one event of the send buffer; drops are reported one by one.
    /// - Parameters:
    ///   - start: the stream's time zero, which packets' times are relative to.
    ///   - isServerAway: nothing leaves the buffer.
    public static func ofSendBuffer(
        _ event: SendBufferEvent, since start: MediaTimestamp?, isServerAway: Bool = false
    ) -> [StreamEvent] {
        switch event {
        case .empty: [.bufferEmpty]
        case .full: [isServerAway ? .serverAway : .bufferFull]
        case .roseAboveHigh: [.bufferHigh]
        case .fellBelowLow: [.bufferLow]
        case .durationChanged(let duration): [.bufferDuration(duration)]
        case .droppedItems(let items):
            items.map { item in .dropped(item, time: start.map { item.decodeTime - $0 } ?? .zero) }
        case .keyframeNeeded: []
        }
    }
}
