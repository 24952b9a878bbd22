import Media

/// Why a recording cannot be written.
public struct RecordingFailure: Error, Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// Full, or over its share, and nothing may be deleted.
        case noSpace
        case readOnly
        /// The disk failed or was pulled out.
        case broken
        /// No disk or folder is there.
        case missing
        /// The stream itself cannot be recorded.
        case media
        case other
    }

    public let kind: Kind
    /// For people: the call, the path and the reason.
    public let text: String

    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

extension RecordingFailure: CustomStringConvertible {
    public var description: String { text }
}

/// Whether a recording runs.
///
///             wanted            opened
///     off ────────────▶ opening ──────▶ recording
///      ▲                 ▲   │ failed      │ failed
///      │ not wanted      │   ▼             ▼
///      └───────── (any)  └── waitingForDisk, or failed: again after 5, 10, 20, 40, 60, 60 … seconds
public struct RecordingSession: Sendable {
    public enum State: Hashable, Sendable {
        case off
        /// The folder is read and unfinished recordings are repaired.
        case opening
        case recording
        /// No disk is there, or it is gone.
        case waitingForDisk(RecordingFailure)
        case failed(RecordingFailure)

        public var name: String {
            switch self {
            case .off: "off"
            case .opening: "opening"
            case .recording: "recording"
            case .waitingForDisk: "waitingForDisk"
            case .failed: "failed"
            }
        }

        public var failure: RecordingFailure? {
            switch self {
            case .waitingForDisk(let failure), .failed(let failure): failure
            case .off, .opening, .recording: nil
            }
        }
    }

    public enum Action: Hashable, Sendable {
        /// Makes the folder ready; answered by `opened` or `failed`.
        case open
        /// Packets are taken from now on.
        case start
        /// Finishes the file, and takes no more packets.
        case stop
        case report(State)
    }

    private static let shortestWait = Duration.seconds(5)
    private static let longestWait = Duration.seconds(60)
    /// A recording that ran this long was all right.
    private static let proof = Duration.seconds(60)

    public private(set) var state = State.off
    private var reported = State.off
    private var wait = shortestWait
    private var retry: MediaTimestamp?
    private var opened: MediaTimestamp?

    public init() {}

    /// When to call `timePassed`.
    public var nextTime: MediaTimestamp? { retry }

    private mutating func enter(_ next: State) -> [Action] {
        state = next
        guard next != reported else { return [] }
        reported = next
        return [.report(next)]
    }

    public mutating func started() -> [Action] {
        guard state == .off else { return [] }
        wait = Self.shortestWait
        return enter(.opening) + [.open]
    }

    /// - Parameter isContinued: `started` follows at once, so nobody needs to hear of it.
    public mutating func stopped(isContinued: Bool = false) -> [Action] {
        guard state != .off else { return [] }
        let stops: [Action] = state == .recording ? [.stop] : []
        retry = nil
        guard isContinued else { return stops + enter(.off) }
        state = .off
        return stops
    }

    public mutating func opened(now: MediaTimestamp) -> [Action] {
        guard state == .opening else { return [] }
        opened = now
        return [.start] + enter(.recording)
    }

    /// - Parameter failure: of the folder, or of a file.
    public mutating func failed(_ failure: RecordingFailure, now: MediaTimestamp) -> [Action] {
        guard state == .opening || state == .recording else { return [] }
        if state == .recording, let opened, now - opened >= Self.proof { wait = Self.shortestWait }
        retry = now + wait
        wait = min(wait * 2, Self.longestWait)
        let stops: [Action] = state == .recording ? [.stop] : []
        return stops + enter(failure.kind == .missing ? .waitingForDisk(failure) : .failed(failure))
    }

    /// A disk has appeared, or a person has changed something.
    public mutating func diskChanged() -> [Action] {
        switch state {
        case .off, .opening, .recording: return []
        case .waitingForDisk, .failed:
            wait = Self.shortestWait
            return reopen()
        }
    }

    public mutating func timePassed(now: MediaTimestamp) -> [Action] {
        guard let retry, now >= retry else { return [] }
        return reopen()
    }

    /// Without a report: the reason stays until it has worked.
    private mutating func reopen() -> [Action] {
        retry = nil
        state = .opening
        return [.open]
    }
}
