/// The numbers of events and errors, stable so that scripts can rely on them.
///
/// 1xxx to 3xxx report what happens during a stream; negative ones say why something ended. The 2xxx are Tallycam's
/// own. All others come from the systems that it replaces; unused ones are kept so that they get no other meaning.
public enum EventCode: Int, CaseIterable, Sendable {
    case connected = 1001
    case publishing = 1002
    case uplinkTooSlow = 1101
    case reconnecting = 1102
    case softwareEncoderInUse = 1103
    case encoderRestarted = 1104

    case stateChanged = 2001
    case status = 2002
    case serverChanged = 2003
    case serverChangeFailed = 2004
    case qualityChanged = 2005
    case machineRestarting = 2007
    case hardwareEncoderDead = 2008
    case paused = 2013
    case pauseImageUnusable = 2014

    case retryAfterLookup = 3001
    case retryAfterConnect = 3002
    case retryAfterHandshake = 3003
    case retryAfterClose = 3004

    case lookupUnreachable = -1000
    case connectFailed = -1001
    case socksFailed = -1002
    case socketFailed = -1003
    case handshakeFailed = -1004
    case connectRejected = -1005
    case sendFailed = -1006
    case closedByServer = -1007
    case netStreamFailed = -1008
    case playFailed = -1009
    case playbackFailed = -1010
    case invalidApplication = -1011
    case invalidProtocol = -1012
    case closedByPeer = -1013
    case streamFailed = -1014
    case timedOut = -1015

    case tlsFailed = -1200
    case tlsUnavailable = -1201

    case lookupFailed = -1300
    case cameraUnavailable = -1301
    case microphoneUnavailable = -1302
    case videoEncodingFailed = -1303
    case audioEncodingFailed = -1304
    case unsupportedResolution = -1305
    case unsupportedSampleRate = -1306
    case recoveriesFailed = -1307

    case reconnectFailed = -1400
    case audioInterrupted = -1500
    case captureRestartFailed = -1501
}

extension EventCode {
    /// Reserved by the systems that Tallycam replaces; never sent.
    public var isUnused: Bool {
        switch self {
        case .socksFailed, .playFailed, .playbackFailed: true
        default: false
        }
    }
}
