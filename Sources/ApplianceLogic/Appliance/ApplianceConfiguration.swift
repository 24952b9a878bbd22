extension Appliance {
    /// The parts of the files that matter to the appliance.
    public struct Configuration: Sendable {
        /// Faults in the files.
        public var faults: [FileFault]
        /// Hardware that board.json names and that is missing or does not work.
        public var hardwareFaults: [FileFault]
        /// Faults in the Wi-Fi settings of network.json.
        public var wirelessFaults: [FileFault]
        /// The live connection can continue despite the faults in stream.json.
        public var isStreamFileTolerated: Bool
        public var startsAtBoot: Bool
        public var torch: Torch.Mode
        /// A live stream has to restart to apply the change.
        public var needsRestart: Bool
        /// The stream uses a signature or TLS, and both need the time of day.
        public var needsClock = false

        public init(
            faults: [FileFault] = [], hardwareFaults: [FileFault] = [], wirelessFaults: [FileFault] = [],
            isStreamFileTolerated: Bool = false, startsAtBoot: Bool = false, torch: Torch.Mode = .off,
            needsRestart: Bool = false
        ) {
            self.faults = faults
            self.hardwareFaults = hardwareFaults
            self.wirelessFaults = wirelessFaults
            self.isStreamFileTolerated = isStreamFileTolerated
            self.startsAtBoot = startsAtBoot
            self.torch = torch
            self.needsRestart = needsRestart
        }
    }
}
