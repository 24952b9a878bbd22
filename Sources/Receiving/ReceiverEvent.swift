import Bitstream
import Media
import RTMP
import StreamLogic

/// An event of the receiver.
public enum ReceiverEvent: Hashable, Sendable {
    /// Connections are accepted.
    case listening(address: String)
    case accepted(peer: String)
    /// - Parameters:
    ///   - application: with the stream's name hidden.
    ///   - stream: number of the stream, starting at 1.
    ///   - recording: the recording's file, if any.
    case publisherStarted(peer: String, application: String, stream: Int, recording: String?)
    indirect case publisherEnded(peer: String, stream: Int, recording: String?, MediaTally)
    case refused(peer: String, Refusal)
    case arrived(Arrival)

    /// Why a peer was refused.
    public struct Refusal: Hashable, Sendable {
        public enum Reason: String, Sendable {
            case player, nameInUse
        }

        public let reason: Reason
        /// With the stream's name hidden.
        public let application: String

        public init(_ reason: Reason, application: String) {
            self.reason = reason
            self.application = application
        }

        init(_ rejection: ReceiveSession.Rejection) {
            switch rejection {
            case .player(let application): self.init(.player, application: streamLabel(application))
            case .nameInUse(let application): self.init(.nameInUse, application: streamLabel(application))
            }
        }
    }

    /// A complete frame or audio packet.
    public struct Arrival: Hashable, Sendable {
        public let track: StreamTrack
        /// Number of the stream, starting at 1.
        public let stream: Int
        /// RTMP's timestamp in milliseconds.
        public let timestamp: UInt32
        public let byteCount: Int
        /// When its last byte was read.
        public let time: MediaTimestamp
    }
}

/// A stream's name for people. The publisher's stream name is a secret, and so may be anything pasted after the application.
func streamLabel(_ application: String) -> String {
    let parts = application.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
    return parts.prefix(1).joined() + String(repeating: "/***", count: parts.dropFirst().count + 1)
}

extension ReceiverEvent: Event {
    public var code: EventCode? { nil }

    public var name: String {
        switch self {
        case .listening: "listening"
        case .accepted: "accepted"
        case .publisherStarted: "publisherStarted"
        case .publisherEnded: "publisherEnded"
        case .refused: "refused"
        case .arrived: "arrived"
        }
    }

    public var text: String? {
        switch self {
        case .listening(let address): "listening on \(address)"
        case .accepted(let peer): "connection from \(peer)"
        case .publisherStarted(let peer, let application, _, let recording):
            "\(peer) publishes to \(application)" + (recording.map { ", recording to \($0)" } ?? "")
        case .publisherEnded(let peer, _, let recording, let tally):
            "\(peer) ended: \(tally.receivedText)" + (recording.map { ", in \($0)" } ?? "")
        case .refused(let peer, let refusal):
            switch refusal.reason {
            case .player:
                "\(peer) refused: it wants to play \(refusal.application), but this receiver serves no players"
            case .nameInUse: "\(peer) refused: another connection publishes the same stream, \(refusal.application)"
            }
        // There are dozens per second.
        case .arrived: nil
        }
    }

    public var fields: [EventField] {
        switch self {
        case .listening(let address): [("address", .text(address))]
        case .accepted(let peer): [("peer", .text(peer))]
        case .publisherStarted(let peer, let application, let stream, let recording):
            [("peer", .text(peer)), ("application", .text(application)), ("stream", .integer(stream))]
                + Self.recordingField(recording)
        case .publisherEnded(let peer, let stream, let recording, let tally):
            [("peer", .text(peer)), ("stream", .integer(stream))] + Self.recordingField(recording)
                + tally.receivedFields
        case .refused(let peer, let refusal):
            [
                ("peer", .text(peer)), ("application", .text(refusal.application)),
                ("reason", .text(refusal.reason.rawValue)),
            ]
        case .arrived(let arrival): arrival.fields
        }
    }
}

extension ReceiverEvent {
    private static func recordingField(_ path: String?) -> [EventField] {
        path.map { [("recording", .text($0))] } ?? []
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
        "\(video.count) frames (\(keyframeCount) keyframe\(keyframeCount == 1 ? "" : "s"), "
            + "\(fixed(kilobitsPerSecond(video), decimals: 0)) kbit/s), "
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
