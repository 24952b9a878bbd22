extension Appliance {
    /// What the files say that matters here.
    public struct Configuration: Sendable {
        /// What the files say wrong.
        public var faults: [FileFault]
        /// What board.json names and what is not there, or does not work.
        public var hardwareFaults: [FileFault]
        /// What network.json says of Wi-Fi that does not work.
        public var wirelessFaults: [FileFault]
        /// What is connected can do without what is wrong with stream.json.
        public var isStreamFileTolerated: Bool
        public var startsAtBoot: Bool
        public var torch: Torch.Mode
        /// A stream that is live has to start anew to follow the change.
        public var needsRestart: Bool
        /// The stream is signed or secured, and both need the time of day.
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
