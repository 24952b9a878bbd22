import Media

// What `EncoderSuccession` is told, and what it asks for.
extension EncoderSuccession {
    public enum Action: Hashable, Sendable {
        /// Start to open hardware for the goal, beside the present one.
        case openSuccessor
        case closeSuccessor
        /// Frames go to the successor from here on; the present one still gives what is inside it.
        case crossToSuccessor
        /// Close the present hardware and open it again for the goal.
        case openInPlace
        /// Software of the goal's size, for the same source's frames.
        case resizeSoftware
        /// Software for the other source's frames.
        case replaceSoftware
        /// No encoder is open: the next one opens for the goal.
        case adoptGoal
        /// The size is reached already: only its rates are new.
        case setRates(VideoEncoderConfiguration)
        case reportRefusal(reason: String)
        case reportScaling
    }

    /// The encoder that the stream has now.
    public enum Present: Hashable, Sendable {
        /// It encodes, and has no fault that is being dealt with.
        case hardware
        /// It is opening, or has failed.
        case unsettledHardware
        case software
        /// Software encodes while hardware is tried again.
        case softwareAndTrial
        /// The hardware is closing or closed, and software has not started.
        case none
    }

    /// Reports of the successor's thread.
    public enum Progress: Hashable, Sendable {
        case opening
        case open
        /// - Parameter leavesRoomForOne: it may open once the present one has closed.
        case failed(reason: String, leavesRoomForOne: Bool)
        case ended
    }

    public struct Situation: Hashable, Sendable {
        public var present: Present
        public var size: FrameSize
        /// `nil` without a successor.
        public var progress: Progress?
        /// The newest frame has a size of this source that is not the successor's.
        public var isInAnotherSize: Bool
        /// The successor takes the source's largest frames.
        public var takesFullFrames: Bool

        public init(
            present: Present, size: FrameSize, progress: Progress? = nil, isInAnotherSize: Bool = false,
            takesFullFrames: Bool = true
        ) {
            self.present = present
            self.size = size
            self.progress = progress
            self.isInAnotherSize = isInAnotherSize
            self.takesFullFrames = takesFullFrames
        }
    }

    /// How far the encoder is with getting ready for another source's frames.
    public enum Preparation: Hashable, Sendable {
        case underWay, ready
        case failed(reason: String)
    }
}
