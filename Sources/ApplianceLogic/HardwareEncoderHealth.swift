import Media

/// Whether the hardware encoder's firmware is dead, as a stream has found out, and when the machine is to restart because
/// of it: nothing else brings it back, and nothing that is live may pay for that.
///
/// It outlives the stream. What is known is of this run of the machine; after the next start everything is well.
public struct HardwareEncoderHealth: Hashable, Sendable {
    /// Who stops a stream may want the next one at once: the machine stays for so long.
    private let idleTime: Duration
    /// After a restart that could not be counted.
    private static let pause = Duration.seconds(600)

    /// Why it is dead, as it was reported first; `nil` while nobody knows of it.
    public private(set) var deathReason: String?
    /// A status has said that it encodes, and nothing has happened to encoders since.
    private var isSeenAtWork = false
    private var idleSince: MediaTimestamp?
    private var earliestRestart: MediaTimestamp?

    public init(idleTime: Duration = .seconds(30)) { self.idleTime = idleTime }

    public var isDead: Bool { deathReason != nil }

    /// It opens no more. Each stream of this run of the machine may find that anew.
    public mutating func died(reason: String) {
        deathReason = deathReason ?? reason
        isSeenAtWork = false
    }

    /// The stream has ended, or has taken another encoder or the same one again.
    public mutating func encoderChanged() { isSeenAtWork = false }

    /// A status report: one that has just been opened may be silent yet, and what came before it is software's. So two
    /// in a row tell that it gives frames.
    public mutating func statusReported(isHardware: Bool, givesFrames: Bool) {
        if isHardware, isSeenAtWork, givesFrames { deathReason = nil }
        isSeenAtWork = isHardware
    }

    /// The board's description says by now that software is wanted.
    public mutating func hardwareUnwanted() { deathReason = nil }

    /// To be called every few seconds.
    /// - Parameters:
    ///   - isIdle: nothing is live, nor wanted.
    ///   - isAllowed: the board's description lets the machine restart itself for this.
    /// - Returns: whether a restart is to be asked for now. `restartRefused` when it is not done.
    ///   How often at most is `RestartLimit`'s.
    public mutating func wantsRestart(isIdle: Bool, isAllowed: Bool, now: MediaTimestamp) -> Bool {
        guard isDead, isIdle, isAllowed else {
            idleSince = nil
            return false
        }
        let since = idleSince ?? now
        idleSince = since
        return now - since >= idleTime && now >= earliestRestart ?? now
    }

    /// - Parameter time: when it may be asked for again; `nil` after a while.
    public mutating func restartRefused(until time: MediaTimestamp? = nil, now: MediaTimestamp) {
        earliestRestart = time ?? now + Self.pause
    }
}
