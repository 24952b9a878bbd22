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
    /// Send the queue's media from now on, after these sequence headers. `timeZero` is RTMP's.
    case startMedia(timeZero: MediaTimestamp, headers: [EncodedPacket])
    /// Send up to the next keyframe, and report when it is reached.
    case holdAtKeyframe
    /// Send waiting media if the network accepts it soon, then say goodbye.
    case close
    /// Nothing gets through: send nothing more, and wait for `abort`.
    case parkUntilAbort
    /// End at once, and tell the server if it can be reached.
    case abort
}

/// A report of a connection's thread to the thread `stream`.
struct ConnectionEvent: Sendable {
    enum Content: Sendable {
        /// The thread waits for `startHandshake`, because connections that occupy the stream's name must end first.
        case connected(server: String, from: SocketAddress?)
        /// The connection uses weaker TLS than usual. Reported before `connected`.
        case tlsFallback(reason: String)
        case publishing
        case failed(ConnectionFailure)
        /// Nothing gets through any longer. The thread waits for `abort`: a server that learns of the end as soon as it can be
        /// reached frees the stream's name at once, not only after its own timeout.
        case peerDead(ConnectionFailure)
        /// Bytes remain unacknowledged although they were sent repeatedly.
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
