import Media

/// Whether a stream found the hardware encoder's firmware dead, and when to restart the machine for it. Only a restart
/// revives the firmware, but it must never interrupt a live stream.
///
/// This state outlives the stream, but not this run of the machine: after a restart the encoder is assumed to work.
public struct HardwareEncoderHealth: Hashable, Sendable {
    /// How long to wait when idle: a person who stops a stream may want to start the next one at once.
    private let idleTime: Duration
    /// Wait after a restart that could not be counted.
    private static let pause = Duration.seconds(600)

    /// The first reported reason; `nil` while the encoder is not known to be dead.
    public private(set) var deathReason: String?
    /// A status said that it encodes, and the encoders have not changed since.
    private var isSeenAtWork = false
    private var idleSince: MediaTimestamp?
    private var earliestRestart: MediaTimestamp?

    public init(idleTime: Duration = .seconds(30)) { self.idleTime = idleTime }

    public var isDead: Bool { deathReason != nil }

    /// It cannot be opened any more. Each stream of this run may find that again.
    public mutating func died(reason: String) {
        deathReason = deathReason ?? reason
        isSeenAtWork = false
    }

    /// The stream has ended, switched to another encoder, or reopened the same one.
    public mutating func encoderChanged() { isSeenAtWork = false }

    /// A status report. An encoder that was just opened may still be silent, and earlier frames came from software. Two
    /// reports in a row therefore prove that it works.
    public mutating func statusReported(isHardware: Bool, givesFrames: Bool) {
        if isHardware, isSeenAtWork, givesFrames { deathReason = nil }
        isSeenAtWork = isHardware
    }

    /// The board's description now asks for software.
    public mutating func hardwareUnwanted() { deathReason = nil }

    /// To be called every few seconds.
    /// - Parameters:
    ///   - isIdle: nothing is live or wanted.
    ///   - isAllowed: the board's description allows the machine to restart for this.
    /// - Returns: whether to request a restart now. Call `restartRefused` if the request is refused. `RestartLimit`
    ///   limits how often it happens.
    public mutating func wantsRestart(isIdle: Bool, isAllowed: Bool, now: MediaTimestamp) -> Bool {
        guard isDead, isIdle, isAllowed else {
            idleSince = nil
            return false
        }
        let since = idleSince ?? now
        idleSince = since
        return now - since >= idleTime && now >= earliestRestart ?? now
    }

    /// - Parameter time: when to ask again; `nil` for the default pause.
    public mutating func restartRefused(until time: MediaTimestamp? = nil, now: MediaTimestamp) {
        earliestRestart = time ?? now + Self.pause
    }
}
