import Media
import RTMP
import StreamLogic
import StreamQuality
import Transport

/// An order for a connection's thread.
enum ConnectionCommand: Sendable {
    /// Do the handshakes and publish, after `connected` was reported.
    /// - Parameter 0: of the stream, which may have opened its sources meanwhile.
    case startHandshake(StreamMetadata)
    /// Send the queue's media from now on, behind these sequence headers; `timeZero` is RTMP's.
    case startMedia(timeZero: MediaTimestamp, headers: [EncodedPacket])
    /// Send up to the next keyframe, and report when it is reached.
    case holdAtKeyframe
    /// Send what waits if the network takes it soon, then say goodbye.
    case close
    /// Nothing gets through: send nothing more, and wait for `abort`.
    case parkUntilAbort
    /// End at once; the server learns of it if it can be.
    case abort
}

/// A report of a connection's thread to the thread `stream`.
struct ConnectionEvent: Sendable {
    enum Content: Sendable {
        /// The thread waits for `startHandshake`: connections that hold the stream's name are ended first.
        case connected(server: String, from: SocketAddress?)
        /// The connection was made with less of TLS than usual. Before `connected`.
        case tlsFallback(reason: String)
        case publishing
        case failed(ConnectionFailure)
        /// Nothing gets through any more. The thread waits for `abort`: a server that learns of the end when it
        /// can be reached again gives the stream's name free at once, instead of when it misses the publisher.
        case peerDead(ConnectionFailure)
        /// Bytes that were sent, and sent again, stay unanswered.
        case peerUnresponsive
        /// Something has arrived after all.
        case resumed
        case closed
        /// Everything was sent, and the tracks have ended.
        case drained
        case keyframeReached
        case reconnectRequested(RTMPURL)
        case reconnectRefused(ReconnectRefusal)
    }

    let id: ConnectionID
    let content: Content
}

/// A report of a target's threads to the thread `stream`.
struct TargetReport: Sendable {
    enum Content: Sendable {
        case connection(ConnectionEvent)
        /// Of its send buffer.
        case buffer([SendBufferEvent])
    }

    let target: TargetID
    let content: Content
}
