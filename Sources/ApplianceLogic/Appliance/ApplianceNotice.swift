import Media

/// What the device itself tells people in the event `message`.
public enum ApplianceNotice: Hashable, Sendable {
    case starts(version: String)
    case ends
    case poweringOff
    case restarting

    // The button.
    case pressed
    case pressedTwice
    case held

    // The files.
    case filesChanged
    case networkSettingsChanged
    case networkSettingsUnusable(reason: String)
    case timeZone(String)

    // The stream.
    case startPrevented(ApplianceFault)
    case crashedWithoutStream
    /// - Parameter number: how often this stream has been resumed lately.
    case streamResumed(number: Int)
    /// The machine restarted itself, and someone had stopped the stream before.
    case streamStaysOff
    case restartLimitReached(RestartLimit.Reason)
    case restartNotCounted

    // Clock and network.
    case waitingForClock
    case clockSet
    case wireless(isConnected: Bool)

    // Devices.
    case noPreview(reason: String)
    case webcamWaits
    case webcamMuted(Bool)
    case torch(isLit: Bool)
    case snapshotSaved(path: String)
}

extension ApplianceNotice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .starts(let version): "Tallycam \(version) starts"
        case .ends: "Tallycam ends"
        case .poweringOff: "powering off"
        case .restarting: "restarting"
        case .pressed: "button pressed"
        case .pressedTwice: "button pressed twice"
        case .held: "button held: power-off"
        case .filesChanged: "the files on the boot partition have changed"
        case .networkSettingsChanged: "the network's settings have changed"
        case .networkSettingsUnusable(let reason): "the network's settings cannot be applied: \(reason)"
        case .timeZone(let name): "the time zone is now \(name)"
        case .startPrevented(let fault): "cannot start: \(fault.meaning)"
        case .crashedWithoutStream: "the program had crashed without a stream"
        case .streamResumed(let number):
            "the program had crashed during a stream, which starts again: \(number) of at most "
                + "\(StreamResumption.most) times within \(Int(StreamResumption.window.inSeconds / 60)) min"
        case .streamStaysOff: "the machine has restarted itself while nothing was live: nothing starts by itself"
        case .restartLimitReached(let reason):
            "the machine has already restarted itself \(reason.frequency); not restarting again"
        case .restartNotCounted: "not restarting the machine: the restart cannot be counted on the card"
        case .waitingForClock: "waiting for the time of day"
        case .clockSet: "the clock is set"
        case .wireless(let isConnected): "network: Wi-Fi \(isConnected ? "connected" : "disconnected")"
        case .noPreview(let reason): "no preview: \(reason)"
        case .webcamWaits: "webcam: a program wants to see or hear; press the button to let it"
        case .webcamMuted(let isMuted): "webcam: \(isMuted ? "muted" : "heard")"
        case .torch(let isLit): "torch \(isLit ? "on" : "off")"
        case .snapshotSaved(let path): "snapshot in \(path)"
        }
    }
}
