import Settings

/// Whether something should be recorded: by device.json, and by what a person has asked for since.
public struct RecordingWish: Hashable, Sendable {
    private var when = DeviceDescription.Record.When.command
    /// What a person asked for last.
    private var order: Bool?

    public init() {}

    /// - Parameter when: of device.json. Another choice ends what a person asked for.
    public mutating func configured(_ when: DeviceDescription.Record.When) {
        if when != self.when { order = nil }
        self.when = when
    }

    /// A person starts or stops the recording.
    /// - Returns: whether device.json allows it.
    public mutating func ordered(_ isOn: Bool) -> Bool {
        guard when != .off else { return false }
        order = isOn
        return true
    }

    /// With `live`, the next stream is recorded whatever was asked for during this one.
    public mutating func streamEnded() { if when == .live { order = nil } }

    /// - Parameter isStreaming: whether a stream connects or is live.
    public func isWanted(whileStreaming isStreaming: Bool) -> Bool {
        guard when != .off else { return false }
        return order ?? (when == .always || when == .live && isStreaming)
    }
}

/// The recording's state, for people and programs.
public struct RecordingReading: Hashable, Sendable {
    /// `off`, `opening`, `recording`, `waitingForDisk`, or `failed`.
    public var state = "off"
    /// The file that is being written.
    public var file: String?
    /// Why nothing can be recorded.
    public var problem: String?
    /// Whether the disk is too slow right now: GOPs are missing.
    public var isDropping = false

    public init() {}

    /// Whether media is being recorded.
    public var isOn: Bool { state == "recording" }

    public var text: String {
        if let problem { return "no: \(problem)" }
        guard isOn else { return state == "off" ? "off" : "starting" }
        return (file.map { "to \($0)" } ?? "from the next keyframe on") + (isDropping ? "; the disk is too slow" : "")
    }
}
