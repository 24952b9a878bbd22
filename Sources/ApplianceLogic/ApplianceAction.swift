import Media

extension Appliance {
    public enum PowerOff: Hashable, Sendable {
        case halt
        case reboot
    }

    public enum Action: Hashable, Sendable {
        case startStream
        case stopStream
        /// End the stream in order and start it again with the new settings.
        case restartStream
        /// Read all files again and report `configurationLoaded`.
        case loadConfiguration
        /// The state and with it the LED's rhythm.
        case show(ApplianceState)
        case setTorch(isLit: Bool)
        /// Write down what must survive and end the machine; nothing comes after it.
        case powerOff(PowerOff)
        /// A start was asked for and cannot be.
        case refuseStart(ApplianceFault)
        /// Call `timerFired` then; replaces the timer before, `nil` ends it.
        case setTimer(MediaTimestamp?)
    }
}
