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

    /// - Parameter isStreaming: whether a stream runs that has servers.
    public func isWanted(whileStreaming isStreaming: Bool) -> Bool {
        guard when != .off else { return false }
        return order ?? (when == .always || when == .live && isStreaming)
    }
}
