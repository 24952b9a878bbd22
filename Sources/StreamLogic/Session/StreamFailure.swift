/// Why a stream, or something it needs, cannot start or continue.
public struct StreamFailure: Error, Hashable, Sendable {
    /// The cause.
    public enum Kind: Hashable, Sendable {
        /// The request itself: it fails again until it is changed.
        case settings
        /// The server could not be reached, refused, or went away.
        case connection
        /// A camera, microphone, input file or encoder.
        case media
        /// The recording could not be written.
        case recording
        /// The system refused something that has no kind of its own.
        case system
    }

    public let kind: Kind
    /// `nil` if the failure has no code.
    public let code: EventCode?
    /// For people, without secrets.
    public let text: String
    /// The server that caused it; `nil` if none did.
    public let target: TargetID?
    /// No encoder works any more; only restarting the machine can help.
    public let needsMachineRestart: Bool

    public init(
        _ kind: Kind, code: EventCode? = nil, needsMachineRestart: Bool = false, target: TargetID? = nil, _ text: String
    ) {
        self.kind = kind
        self.code = code
        self.text = text
        self.needsMachineRestart = needsMachineRestart
        self.target = target
    }

    public init(_ code: EventCode, needsMachineRestart: Bool = false, _ text: String) {
        self.init(code.failureKind, code: code, needsMachineRestart: needsMachineRestart, text)
    }
}

extension EventCode {
    /// The kind of a failure with this code.
    var failureKind: StreamFailure.Kind {
        switch self {
        case .cameraUnavailable, .microphoneUnavailable, .videoEncodingFailed, .audioEncodingFailed,
            .audioInterrupted, .captureRestartFailed:
            .media
        case .unsupportedResolution, .unsupportedSampleRate: .settings
        default: .connection
        }
    }
}

extension StreamFailure: CustomStringConvertible {
    public var description: String { text }
}
