extension EncoderRecovery {
    /// Timeouts and limits of the recovery.
    public struct Settings: Hashable, Sendable {
        /// After this long with input and no output, the recovery takes its next step.
        public var silence = Duration.seconds(1)
        /// After this long, a call to the hardware's driver counts as blocked.
        public var longestCall = Duration.seconds(2)
        /// This many faulty frames within `faultWindow` count as silence.
        public var faultLimit = 4
        public var faultWindow = Duration.seconds(2)
        /// Nothing is encoded while the hardware is closed and reopened. After this long, software takes over.
        public var closingTimeout = Duration.seconds(1)
        /// Like `closingTimeout`, for the opening that follows.
        public var openingTimeout = Duration.seconds(2)
        /// After this long without trouble, the next trouble starts at the first step again.
        public var recovery = Duration.seconds(10)
        /// After this many reopenings without a recovery, software takes over.
        public var reopenLimit = 2
        /// How often a trial opens the hardware before the trial counts as failed. A driver may keep a stale flag from
        /// a silent firmware, which only another close clears.
        public var trialLimit = 2
        /// How long a trial may take to open the hardware, which may first have to be closed.
        public var trialOpeningTimeout = Duration.seconds(10)
        /// How long a trial may take from then to its first frame.
        public var trialSilence = Duration.seconds(2)
        /// How long software runs before the hardware is tried again; doubled after each failure.
        public var retryDelay = Duration.seconds(60)
        public var longestRetryDelay = Duration.seconds(600)
        /// After this many trials in a row in which the hardware did not even open, its firmware counts as dead until
        /// the machine restarts.
        public var deadAfter = 3

        public init() {}
    }
}
