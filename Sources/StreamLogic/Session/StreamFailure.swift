/// Why a stream, or what belongs to one, does not start or cannot go on.
public struct StreamFailure: Error, Hashable, Sendable {
    /// What is at fault.
    public enum Kind: Hashable, Sendable {
        /// What was asked for: it will fail again until somebody changes it.
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
    /// `nil` for what the list of codes does not have.
    public let code: EventCode?
    /// For people, without secrets.
    public let text: String
    /// The server that is at fault; `nil` when none is.
    public let target: TargetID?
    /// Nothing that worked before works any more: only the machine's restart is left.
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
    /// What is at fault when something ended with this code.
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
