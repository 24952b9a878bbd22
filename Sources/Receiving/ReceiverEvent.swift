import Bitstream
import Media
import StreamLogic

/// What happened at the receiver, for whoever started it.
public enum ReceiverEvent: Hashable, Sendable {
    /// Connections are taken.
    case listening(address: String)
    case accepted(peer: String)
    /// - Parameters:
    ///   - application: with the stream's name hidden.
    ///   - recording: the file that is written, if any.
    case publisherStarted(peer: String, application: String, recording: String?)
    indirect case publisherEnded(peer: String, MediaTally)
    case arrived(Arrival)

    /// A frame or an audio packet that has come whole.
    public struct Arrival: Hashable, Sendable {
        public let track: StreamTrack
        /// 1 for the first that was published.
        public let stream: Int
        /// RTMP's, in milliseconds.
        public let timestamp: UInt32
        public let byteCount: Int
        /// When its last byte was read.
        public let time: MediaTimestamp
    }
}

extension ReceiverEvent: Event {
    public var code: EventCode? { nil }

    public var name: String {
        switch self {
        case .listening: "listening"
        case .accepted: "accepted"
        case .publisherStarted: "publisherStarted"
        case .publisherEnded: "publisherEnded"
        case .arrived: "arrived"
        }
    }

    public var text: String? {
        switch self {
        case .listening(let address): "listening on \(address)"
        case .accepted(let peer): "connection from \(peer)"
        case .publisherStarted(let peer, let application, let recording):
            "\(peer) publishes to \(application)" + (recording.map { ", recording to \($0)" } ?? "")
        case .publisherEnded(let peer, let tally): "\(peer) ended: \(tally.receivedText)"
        // Dozens in a second.
        case .arrived: nil
        }
    }

    public var fields: [EventField] {
        switch self {
        case .listening(let address): [("address", .text(address))]
        case .accepted(let peer): [("peer", .text(peer))]
        case .publisherStarted(let peer, let application, _):
            [("peer", .text(peer)), ("application", .text(application))]
        case .publisherEnded(let peer, let tally): [("peer", .text(peer))] + tally.receivedFields
        case .arrived(let arrival): arrival.fields
        }
    }
}

extension ReceiverEvent.Arrival {
    fileprivate var fields: [EventField] {
        [
            ("kind", .text(track.rawValue)), ("stream", .integer(stream)), ("timestamp", .integer(Int(timestamp))),
            ("bytes", .integer(byteCount)), ("clock", .number((time - .zero).inSeconds)),
        ]
    }
}

extension MediaTally {
    fileprivate var receivedText: String {
        "\(video.count) frames (\(keyframeCount) keyframes, \(fixed(kilobitsPerSecond(video), decimals: 0)) kbit/s), "
            + "\(fixed(audioDuration.inSeconds, decimals: 1)) s of audio"
    }

    fileprivate var receivedFields: [EventField] {
        [
            ("videoFrames", .integer(video.count)), ("keyframes", .integer(keyframeCount)),
            ("videoSeconds", .number(video.span.inSeconds)), ("videoBytes", .integer(video.byteCount)),
            ("videoKbps", .number(kilobitsPerSecond(video))),
            ("largestVideoGap", .number(Double(video.largestGap) / 1000)), ("audioPackets", .integer(audio.count)),
            ("audioSeconds", .number(audioDuration.inSeconds)), ("audioBytes", .integer(audio.byteCount)),
            ("audioKbps", .number(kilobitsPerSecond(audio))),
            ("largestAudioGap", .number(Double(audio.largestGap) / 1000)),
            ("disordered", .integer(video.disorderCount + audio.disorderCount)),
        ]
    }
}
