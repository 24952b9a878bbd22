import Bitstream
import Controls
import Filters
import Media
import StreamQuality

/// The states of a stream that its owner sees.
public enum StreamState: String, CaseIterable, Sendable {
    /// Never started.
    case unknown
    case connecting
    /// Publishing.
    case connected
    case disconnecting
    /// Ended as asked.
    case disconnected
    case reconnecting
    /// Ended by a fault.
    case error
}

/// Why a connection failed, in the words and with the number of the layer that noticed.
public struct ConnectionFailure: Error, Hashable, Sendable {
    /// A negative number of `EventCode`.
    public let code: Int
    /// For people, without secrets.
    public let text: String
    /// The same attempt will fail again until somebody changes a setting.
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

/// What a device gives, as it comes.
public enum SourceStart: Hashable, Sendable {
    /// - Parameter 0: its name in the stream, or the driver's.
    case camera(String, FrameSize, FrameRate)
    case microphone(sampleRate: Int, channelCount: Int)
}

/// A device gives its first frame or samples, was lost while the stream goes on, or has come back.
public enum SourceEvent: Hashable, Sendable {
    case started(SourceStart)
    case interrupted(StreamTrack, source: String, reason: String)
    case returned(StreamTrack, source: String, after: Duration)
}

/// What happened to a stream, for whoever started it. `EventRendering` has the words.
///
/// What is large is boxed: most events are small and many.
public enum StreamEvent: Hashable, Sendable {
    // The connection.
    case stateChanged(StreamState)
    case connected(server: String)
    /// The connection was made with less of TLS than usual; once for each server.
    case tlsFallback(reason: String)
    /// - Parameter destination: where, without secrets.
    case publishing(destination: String)
    /// A failure that leads to another attempt.
    case retry(ConnectionFailure, RetryStage)
    /// - Parameters:
    ///   - attempt: from 1.
    ///   - limit: how many there will be; `nil` for no end.
    ///   - delay: how long until it starts.
    case reconnecting(attempt: Int, limit: Int?, delay: Duration)
    case serverChanged
    case serverChangeFailed(ConnectionFailure)
    /// The link that the stream goes through lost its carrier.
    case linkDown
    /// A link that may lead to the server has a carrier and an address.
    case linkUp

    // What is sent.
    indirect case status(StreamStatus)
    indirect case fileStatus(FileStreamStatus)
    indirect case qualityChanged(QualityChange)
    /// - Parameter bitrate: what the link carries.
    case uplinkTooSlow(bitrate: Bitrate)
    indirect case measured(StreamMeasurement, linkEstimate: Bitrate?)

    // The send buffer.
    case bufferEmpty
    case bufferHigh
    case bufferLow
    case bufferFull
    /// It is full since nothing of it is taken: there is no connection, or nothing is acknowledged.
    case serverAway
    case bufferDuration(Duration)
    /// - Parameter time: since the stream's time zero.
    case dropped(DroppedItem, time: Duration)

    // Encoders and sources.
    case softwareEncoderInUse(reason: String)
    case encoderRestarted(reason: String)
    /// Software goes on; the hardware is still tried, seldom.
    case hardwareEncoderDead(reason: String)
    case source(SourceEvent)
    /// A file or pipe ended.
    case sourceEnded(StreamTrack, note: String)
    /// There is no time for it: frames go out without it until there is.
    case filterDropped(FilterID)
    case filterRestored(FilterID)
    /// The first frame of another camera was encoded.
    /// - Parameter after: since it was asked for.
    case cameraSwitched(from: String, to: String, after: Duration)
    /// The camera that was asked for does not come.
    /// - Parameter keeping: the one that stays on.
    case cameraSwitchFailed(String, reason: String, keeping: String)

    // What somebody asked for while live.
    /// - Parameter configuration: all settings as they are now.
    indirect case configured(LiveConfiguration)
    /// - Parameter readings: each control that was set, with what the camera says of it.
    indirect case controlled([ControlReading])
    /// - Parameter chain: all filters as they are now.
    indirect case filtered(FilterChain)
    case refused(reason: String)
    case muted(Bool)
    case paused(Bool)
    case pauseImageUnusable(reason: String)
    /// The answer to a request for one.
    indirect case snapshot(SnapshotAnswer)

    // Beside the stream.
    case preview(PreviewEvent)

    // The end.
    /// In order, with the totals.
    indirect case ended(EncodedCounters, SentCounters, audioSeconds: Double)
    indirect case fileEnded(MediaTally)
    /// By this.
    /// - Parameter code: `nil` for what the list of codes does not have.
    case failed(EventCode?, message: String)

    /// How far an attempt got before it failed.
    public enum RetryStage: Hashable, Sendable {
        case lookup
        case connect
        case handshake
        /// The stream was being published, or was about to.
        case close
    }
}

extension StreamEvent {
    /// What the send buffer said, drops one by one.
    /// - Parameters:
    ///   - start: the stream's time zero, from which packets' times are counted.
    ///   - isServerAway: nothing that is in the buffer is taken.
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
        case .keyframeNeeded, .overflowed: []
        }
    }
}
