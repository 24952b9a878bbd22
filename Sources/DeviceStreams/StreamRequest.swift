import CardStorage
import Controls
import DevicePorts
import LinuxIO
import Settings
import StreamLogic
import USBVideo

/// What a stream is made of; goes to the stream's thread.
public struct StreamRequest: Sendable {
    public let description: StreamDescription
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?
    public let stateDirectory: String
    /// What the stream needs of the card while it lives.
    public let card: CardCalls
    /// The filters of `device` as their files were when it was read.
    let knownFilters: UsableFilters
    /// Where the frames are shown; `nil` for nowhere.
    public let preview: (any PreviewSink)?
    /// From the start on: somebody has muted what a computer hears, and has not taken it back.
    public let isMuted: Bool
    /// From the start on: the stream was paused, and starts again although nobody has ended the pause.
    public let isPaused: Bool
    /// Who gets the frames and the audio, too.
    public let frameSinks: [any FrameSink]
    public let audioSinks: [any AudioSink]

    /// Files that are read already are worth no longer wait.
    private static let cardPatience = Duration.seconds(2)

    /// The filters of `device` with their files as they are now; as they were known, while the card does not answer.
    public func filters() -> UsableFilters {
        let (chain, known) = (device.filters, knownFilters.filters)
        let current = try? card.call(within: Self.cardPatience) { UsableFilters(chain, reusing: known) }
        return current ?? knownFilters
    }
}

/// What a computer is to see in the camera.
public struct WebcamRequest: Hashable, Sendable {
    public let identity: GadgetIdentity
    public let bus: IsochronousBudget
    /// Whether somebody at the camera has to agree before it gets frames.
    public let asks: Bool
    /// What the camera has.
    public let controls: [ControlStatus]

    package init(identity: GadgetIdentity, bus: IsochronousBudget, asks: Bool, controls: [ControlStatus]) {
        self.identity = identity
        self.bus = bus
        self.asks = asks
        self.controls = controls
    }
}

/// What the files say of a camera that is open without a stream.
public struct IdleCameraDescription: Hashable, Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?

    package init(_ files: DescriptionFiles) {
        device = files.device
        board = files.board
        country = files.network.country
    }
}

/// A snapshot of a camera that no stream has open; goes to a thread of its own.
public struct StillRequest: Sendable {
    public let snapshot: SnapshotRequest
    public let camera: IdleCameraDescription
}

/// The frames of a camera that no stream has open, for a screen or a computer; goes to a thread of its own.
public struct IdleFramesRequest: Sendable {
    public let camera: IdleCameraDescription
    /// Never empty.
    public let sinks: [any FrameSink]
    /// Of the camera's controls, while it is open.
    public let changes: Mailbox<[ControlChange]>

    /// Whether the camera is opened in the same way, for the same.
    func isSame(_ camera: IdleCameraDescription, _ sinks: [any FrameSink]) -> Bool {
        self.camera == camera && self.sinks.count == sinks.count && zip(self.sinks, sinks).allSatisfy { $0 === $1 }
    }
}

/// The audio of microphones that no stream has open, for a computer; goes to a thread of its own.
public struct IdleAudioRequest: Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    public let sink: any AudioSink
}
