extension EncoderRecovery {
    /// How patient the recovery is with the hardware.
    public struct Settings: Hashable, Sendable {
        /// Frames go in and nothing comes out for so long: the next step is taken.
        public var silence = Duration.seconds(1)
        /// A call of the hardware's driver does not return for so long: what it is asked does not get through to it.
        public var longestCall = Duration.seconds(2)
        /// So many faulty frames within `faultWindow` count as silence.
        public var faultLimit = 4
        public var faultWindow = Duration.seconds(2)
        /// While the hardware is closed to be opened again nothing encodes. After so long software does.
        public var closingTimeout = Duration.seconds(1)
        /// As `closingTimeout`, of the opening that follows.
        public var openingTimeout = Duration.seconds(2)
        /// So long without trouble, and the next trouble starts at the first step again.
        public var recovery = Duration.seconds(10)
        /// So many reopenings without recovery between them, and software takes over.
        public var reopenLimit = 2
        /// How often the hardware is opened beside software before that counts as failed: a driver may keep a stale
        /// flag from a firmware that was silent, which only closing it once more heals.
        public var trialLimit = 2
        /// How long a trial may take to open: the hardware may be closed slowly before that.
        public var trialOpeningTimeout = Duration.seconds(10)
        /// How long a trial may take from then to its first frame.
        public var trialSilence = Duration.seconds(2)
        /// How long software runs before the hardware is tried again; doubled each time that fails.
        public var retryDelay = Duration.seconds(60)
        public var longestRetryDelay = Duration.seconds(600)
        /// So often in a row, with a wait between them, the hardware does not even open: its firmware is dead until the
        /// machine restarts.
        public var deadAfter = 3

        public init() {}
    }
}
