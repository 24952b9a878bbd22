import CardStorage
import Controls
import DevicePorts
import Encoding
import LinuxIO
import Settings
import StreamLogic
import USBVideo

/// Everything a stream needs; passed to the stream's thread.
public struct StreamRequest: Sendable {
    /// `nil` for an idle stream, which has no servers: it is only recorded or viewed.
    public let description: StreamDescription?
    public let sources: SourceDescription
    public let storage: StreamStorage
    public let receivers: StreamReceivers
    /// Whether the audio is muted from the start, because someone muted the webcam before.
    public let isMuted: Bool
    /// Whether the stream restarts paused, because nobody has ended the pause.
    public let isPaused: Bool

    /// The filters of `sources` with their present files, or with the known files if the card does not answer.
    public func filters() -> UsableFilters { storage.filters(of: sources.device) }
}

/// What a stream reads and keeps.
public struct StreamStorage: Sendable {
    public let stateDirectory: String
    public let card: CardCalls
    /// The filters of device.json, with their files as they were when it was read.
    let knownFilters: UsableFilters

    /// Files that are already loaded are not worth a longer wait.
    private static let cardPatience = Duration.seconds(2)

    fileprivate func filters(of device: DeviceDescription) -> UsableFilters {
        let (chain, known) = (device.filters, knownFilters.filters)
        let current = try? card.call(within: Self.cardPatience) { UsableFilters(chain, reusing: known) }
        return current ?? knownFilters
    }
}

/// What takes a stream's frames and audio besides its encoders.
public struct StreamReceivers: Sendable {
    /// Shows the frames; `nil` for no preview.
    public let preview: (any PreviewSink)?
    public let frames: [any FrameSink]
    public let audio: [any AudioSink]
    /// Takes the encoded packets; `nil` if nothing may be recorded.
    public let archive: (any PacketArchive)?
    /// Takes the encoded packets, too, for the page; `nil` without it.
    public let viewer: (any PacketSink)?
    /// Whether media starts at once, for these two, rather than when a server accepts the stream.
    public let startsAtOnce: Bool
    /// Whether a low rate is enough, because an idle stream runs for viewers alone.
    public let isLowRate: Bool

    package init(
        preview: (any PreviewSink)?, frames: [any FrameSink], audio: [any AudioSink], archive: (any PacketArchive)?,
        viewer: (any PacketSink)?, startsAtOnce: Bool, isLowRate: Bool
    ) {
        self.preview = preview
        self.frames = frames
        self.audio = audio
        self.archive = archive
        self.viewer = viewer
        self.startsAtOnce = startsAtOnce
        self.isLowRate = isLowRate
    }
}

/// The camera as presented to a computer.
public struct WebcamRequest: Hashable, Sendable {
    public let identity: GadgetIdentity
    public let bus: IsochronousBudget
    /// Whether someone at the camera must agree before the computer gets frames.
    public let asks: Bool
    /// The camera's controls.
    public let controls: [ControlStatus]

    package init(identity: GadgetIdentity, bus: IsochronousBudget, asks: Bool, controls: [ControlStatus]) {
        self.identity = identity
        self.bus = bus
        self.asks = asks
        self.controls = controls
    }
}

/// Cameras and microphones, as the files describe them.
public struct SourceDescription: Hashable, Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// The two-letter country of `network.json`.
    public let country: String?

    package init(_ files: DescriptionFiles) {
        device = files.device
        board = files.board
        country = files.network.country
    }
}

/// A snapshot from a camera that no stream uses; passed to its own thread.
public struct StillRequest: Sendable {
    public let snapshot: SnapshotRequest
    public let camera: SourceDescription
}

/// Frames from a camera that no stream uses, for a screen or a computer; passed to its own thread.
public struct IdleFramesRequest: Sendable {
    public let camera: SourceDescription
    /// Never empty.
    public let sinks: [any FrameSink]
    /// Changes to the camera's controls while it is open.
    public let changes: Mailbox<[ControlChange]>

    /// Whether the camera would be opened in the same way for the same receivers.
    func isSame(_ camera: SourceDescription, _ sinks: [any FrameSink]) -> Bool {
        self.camera == camera && self.sinks.count == sinks.count && zip(self.sinks, sinks).allSatisfy { $0 === $1 }
    }
}

/// Audio from microphones that no stream uses, for a computer; passed to its own thread.
public struct IdleAudioRequest: Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    public let sink: any AudioSink
}
