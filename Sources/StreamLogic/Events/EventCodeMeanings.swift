extension EventCode {
    /// One line for people.
    public var meaning: String {
        switch self {
        case .connected: "connected to the server"
        case .publishing: "the stream is live"
        case .uplinkTooSlow: "the uplink is too slow"
        case .reconnecting: "disconnected; reconnecting"
        case .softwareEncoderInUse: "the hardware encoder failed; the software encoder is in use"
        case .encoderRestarted: "the encoder failed and was restarted"
        case .hardwareEncoderDead: "the hardware encoder is dead until the machine restarts"
        case .stateChanged: "the stream's state changed"
        case .status: "the stream's rates and counters"
        case .serverChanged: "moved to another server at the server's request"
        case .serverChangeFailed: "could not move to another server; staying"
        case .qualityChanged: "bit rate, frame rate or audio quality changed"
        case .machineRestarting: "a video encoder failed; restarting the machine"
        case .paused: "the stream was paused or resumed"
        case .pauseImageUnusable: "the pause image cannot be used; showing the last frame instead"
        case .retryAfterLookup: "the host name was not found; retrying"
        case .retryAfterConnect: "could not connect to the server; retrying"
        case .retryAfterHandshake: "the server did not start the stream; retrying"
        case .retryAfterClose: "the connection ended; retrying"
        default: errorMeaning
        }
    }

    private var errorMeaning: String {
        switch self {
        case .lookupUnreachable: "the name server cannot be reached"
        case .connectFailed: "cannot connect to the server"
        case .socksFailed, .playFailed, .playbackFailed: "not used"
        case .socketFailed: "could not create a socket"
        case .handshakeFailed: "the RTMP handshake failed"
        case .connectRejected: "the server rejected the RTMP connection"
        case .sendFailed: "sending failed"
        case .closedByServer: "the server closed the stream"
        case .netStreamFailed: "the server does not accept this stream name"
        case .invalidApplication: "the server has no such application"
        case .invalidProtocol: "the server sent data that is not RTMP"
        case .closedByPeer: "the connection was lost"
        case .streamFailed: "the server reports an error in the stream"
        case .timedOut: "no answer in time"
        case .tlsFailed: "TLS failed"
        case .tlsUnavailable: "TLS cannot be used"
        case .lookupFailed: "the host name was not found"
        case .cameraUnavailable: "the camera could not be opened"
        case .microphoneUnavailable: "the microphone could not be opened"
        case .videoEncodingFailed: "video encoding failed"
        case .audioEncodingFailed: "audio encoding failed"
        case .unsupportedResolution: "the frame size is not supported"
        case .unsupportedSampleRate: "the sample rate is not supported"
        case .recoveriesFailed: "disconnected, and every attempt to recover failed"
        case .reconnectFailed: "reconnecting failed permanently"
        case .audioInterrupted: "audio was interrupted and could not restart"
        case .captureRestartFailed: "capture was interrupted and could not restart"
        default: ""
        }
    }
}
