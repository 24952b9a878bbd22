extension EventCode {
    /// One line for people.
    public var meaning: String {
        switch self {
        case .connected: "connected to the server"
        case .publishing: "handshake done, publishing starts"
        case .uplinkTooSlow: "the uplink is too slow"
        case .reconnecting: "disconnected, reconnecting"
        case .softwareEncoderInUse: "the hardware encoder failed, the software encoder is in use"
        case .encoderRestarted: "the encoder failed and was restarted"
        case .hardwareEncoderDead: "the hardware encoder does not open until the machine is restarted"
        case .stateChanged: "the stream's state changed"
        case .status: "what is being sent"
        case .serverChanged: "moved to another server, as the server asked"
        case .serverChangeFailed: "could not move to another server, staying"
        case .qualityChanged: "bit rate, frame rate or audio quality changed"
        case .machineRestarting: "a video encoder failed, restarting the machine"
        case .paused: "the stream was paused or resumed"
        case .pauseImageUnusable: "the pause image cannot be used, the last frame is shown instead"
        case .retryAfterLookup: "the host name was not found, trying again"
        case .retryAfterConnect: "no connection to the server, trying again"
        case .retryAfterHandshake: "the server did not let the stream start, trying again"
        case .retryAfterClose: "the connection ended, trying again"
        default: errorMeaning
        }
    }

    private var errorMeaning: String {
        switch self {
        case .lookupUnreachable: "the name server cannot be reached"
        case .connectFailed: "the server cannot be connected to"
        case .socksFailed, .playFailed, .playbackFailed: "not used"
        case .socketFailed: "no socket could be made"
        case .handshakeFailed: "the RTMP handshake failed"
        case .connectRejected: "the server rejected the RTMP connection"
        case .sendFailed: "sending failed"
        case .closedByServer: "the server closed the stream"
        case .netStreamFailed: "the server does not take a stream of this name"
        case .invalidApplication: "the server has no such application"
        case .invalidProtocol: "the server sent data that is not RTMP"
        case .closedByPeer: "the connection was cut"
        case .streamFailed: "the server reports a fault of the stream"
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
        case .reconnectFailed: "reconnecting failed for good"
        case .audioInterrupted: "audio was interrupted and could not restart"
        case .captureRestartFailed: "capture was interrupted and could not restart"
        default: ""
        }
    }
}
