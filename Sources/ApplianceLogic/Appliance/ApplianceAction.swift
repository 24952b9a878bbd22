import Media

extension Appliance {
    public enum PowerOff: Hashable, Sendable {
        case halt
        case reboot
    }

    public enum Action: Hashable, Sendable {
        case startStream
        case stopStream
        /// End the stream properly and start it again with the new settings.
        case restartStream
        /// Read all files again and call `configurationLoaded`.
        case loadConfiguration
        /// Show the state, and with it the LED's pattern.
        case show(ApplianceState)
        case setTorch(isLit: Bool)
        /// Save what must survive and switch off; nothing comes after it.
        case powerOff(PowerOff)
        /// A start was requested but is not possible.
        case refuseStart(ApplianceFault)
        /// Call `timerFired` at this time. Replaces the previous timer; `nil` cancels it.
        case setTimer(MediaTimestamp?)
    }
}
