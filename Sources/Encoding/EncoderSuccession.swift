import DevicePorts
import Media

/// How one encoder of a stream follows another: what the next one is for, and how far it is. The one before may still give its
/// last frames while the next but one is opening already.
///
/// ```
///  settled ── a size or a source is wanted ──▶ successor opens ── first frame for it ──▶ retiring ──▶ settled
///                                                    ├── refused: the present one goes on ──▶ settled
///                                                    └── too little memory: the present one closes first (`openInPlace`)
/// ```
struct EncoderSuccession {
    /// The hardware that is to be next, for the wanted size and the frames to come.
    struct Successor {
        let hardware: FallbackEncoder.Hardware
        /// Brings those frames to its size.
        var scaling: FrameScaling
        /// Of the source's frames that it is for.
        let sourceLayout: FrameLayout
        /// When it has to be open.
        let deadline: MediaTimestamp
        /// For the first of those frames, once it is open.
        var wait = SizeWait()

        mutating func close() {
            hardware.thread.close()
            scaling.close()
        }
    }

    /// Another source, whose frames are to come.
    struct NextSource {
        let frames: SourceFrames
        var preparation = SourcePreparation.underWay
    }

    /// How long a size is waited for that the source was asked for.
    struct SizeWait {
        /// Longer than six frames take at five a second: so many may be under way in the size before.
        private static let longest = Duration.seconds(2)

        private var since: MediaTimestamp?
        var isUnderWay: Bool { since != nil }

        /// Starts it, if it has not.
        mutating func isOver(now: MediaTimestamp) -> Bool {
            let start = since ?? now
            since = start
            return now - start >= Self.longest
        }

        mutating func end() { since = nil }
    }

    /// The configuration that is wanted; `nil` when it is reached.
    var wanted: VideoEncoderConfiguration?
    /// `nil` when its frames come, or none is to be next.
    var next: NextSource?
    /// From when it opens until the first of its frames comes.
    var successor: Successor?
    /// The hardware before, with the frames that are still in it.
    var retiring: (hardware: FallbackEncoder.Hardware, deadline: MediaTimestamp)?
    /// The source has not given its smaller frames when it was asked for them.
    var isSecondSizeGivenUp = false

    var conversionCount: Int { retiring?.hardware.thread.conversionCount ?? 0 }
    var pendingFrameCount: Int { retiring?.hardware.thread.pendingFrameCount ?? 0 }
    var isPreparing: Bool { next?.preparation == .underWay }

    mutating func update(_ change: (inout VideoEncoderConfiguration) -> Void) {
        guard var wanted else { return }
        change(&wanted)
        self.wanted = wanted
    }

    mutating func close() {
        successor?.close()
        retiring?.hardware.thread.close()
    }
}
