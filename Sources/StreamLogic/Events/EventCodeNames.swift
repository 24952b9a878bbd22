extension EventCode {
    /// The event's name in the event list, the same as in code. Spelled out because `"\(self)"` queries the runtime,
    /// which costs 100 000 instructions, several times as much as the rest of a status report.
    public var name: String {
        switch self {
        case .connected: "connected"
        case .publishing: "publishing"
        case .uplinkTooSlow: "uplinkTooSlow"
        case .reconnecting: "reconnecting"
        case .softwareEncoderInUse: "softwareEncoderInUse"
        case .encoderRestarted: "encoderRestarted"
        case .hardwareEncoderDead: "hardwareEncoderDead"
        case .stateChanged: "stateChanged"
        case .status: "status"
        case .serverChanged: "serverChanged"
        case .serverChangeFailed: "serverChangeFailed"
        case .qualityChanged: "qualityChanged"
        case .machineRestarting: "machineRestarting"
        case .paused: "paused"
        case .pauseImageUnusable: "pauseImageUnusable"
        case .retryAfterLookup: "retryAfterLookup"
        case .retryAfterConnect: "retryAfterConnect"
        case .retryAfterHandshake: "retryAfterHandshake"
        case .retryAfterClose: "retryAfterClose"
        default: errorName
        }
    }

    private var errorName: String {
        switch self {
        case .lookupUnreachable: "lookupUnreachable"
        case .connectFailed: "connectFailed"
        case .socksFailed: "socksFailed"
        case .socketFailed: "socketFailed"
        case .handshakeFailed: "handshakeFailed"
        case .connectRejected: "connectRejected"
        case .sendFailed: "sendFailed"
        case .closedByServer: "closedByServer"
        case .netStreamFailed: "netStreamFailed"
        case .playFailed: "playFailed"
        case .playbackFailed: "playbackFailed"
        case .invalidApplication: "invalidApplication"
        case .invalidProtocol: "invalidProtocol"
        case .closedByPeer: "closedByPeer"
        case .streamFailed: "streamFailed"
        case .timedOut: "timedOut"
        case .tlsFailed: "tlsFailed"
        case .tlsUnavailable: "tlsUnavailable"
        case .lookupFailed: "lookupFailed"
        case .cameraUnavailable: "cameraUnavailable"
        case .microphoneUnavailable: "microphoneUnavailable"
        case .videoEncodingFailed: "videoEncodingFailed"
        case .audioEncodingFailed: "audioEncodingFailed"
        case .unsupportedResolution: "unsupportedResolution"
        case .unsupportedSampleRate: "unsupportedSampleRate"
        case .recoveriesFailed: "recoveriesFailed"
        case .reconnectFailed: "reconnectFailed"
        case .audioInterrupted: "audioInterrupted"
        case .captureRestartFailed: "captureRestartFailed"
        default: ""
        }
    }
}
