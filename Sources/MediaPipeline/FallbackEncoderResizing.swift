import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the size of its frames changes while it runs. The hardware's next encoder opens beside the present one, which goes on
// until it is there, so that no frame is missing; where the memory forbids two, one closes before the other opens. A camera
// that gives the new size itself is asked for it then, and the present encoder goes on until its first such frame.
extension FallbackEncoder {
    /// What is under way.
    struct Resizing {
        /// The configuration that is wanted; `nil` when it is reached.
        fileprivate(set) var wanted: VideoEncoderConfiguration?
        /// The hardware for it, which is opening, and what scales for it.
        fileprivate(set) var successor: Hardware?
        fileprivate var scaling: FrameScaling?
        /// Of the source's frames that it is for.
        fileprivate var sourceLayout: FrameLayout?
        /// For the first of them, once it is open.
        fileprivate var wait = SizeWait()
        fileprivate var successorDeadline: MediaTimestamp?
        /// The hardware before, with the frames that are still in it.
        fileprivate var retiring: (hardware: Hardware, deadline: MediaTimestamp)?
        /// The source has not given its smaller frames when it was asked for them.
        fileprivate var isSecondSizeGivenUp = false

        var conversionCount: Int { retiring?.hardware.thread.conversionCount ?? 0 }
        var pendingFrameCount: Int { retiring?.hardware.thread.pendingFrameCount ?? 0 }

        mutating func update(_ change: (inout VideoEncoderConfiguration) -> Void) {
            guard var wanted else { return }
            change(&wanted)
            self.wanted = wanted
        }

        mutating func close() {
            successor?.thread.close()
            scaling?.close()
            retiring?.hardware.thread.close()
        }
    }

    /// The last size asked for counts. While hardware is being replaced it waits; a size that is refused is reported, and the
    /// stream goes on with the one before.
    public func resize(to configuration: VideoEncoderConfiguration) throws {
        dropSuccessor()
        resizing.wanted = configuration
        try settleSize()
    }

    /// Does what can be done now for the wanted size.
    func settleSize() throws {
        retire()
        guard let wanted = resizing.wanted else { return }
        if let successor = resizing.successor { return try watch(successor, for: wanted) }
        guard wanted.size != configuration.size else {
            resizing.wanted = nil
            try setFrameRate(wanted.frameRate, keyframeInterval: wanted.keyframeInterval)
            return try setBitrate(wanted.bitrate)
        }
        if recovery.usesSoftware {
            // A trial of the hardware that is under way gets its answer first.
            guard hardware == nil || hardware?.isClosing == true else { return }
            resizeSoftware(to: wanted)
        } else if let hardware, hardware.isOpenReported, !hardware.isFailureReported, !hardware.isClosing {
            startSuccessor(for: wanted)
        }
    }

    private func resizeSoftware(to wanted: VideoEncoderConfiguration) {
        guard let present = software else { return }
        do {
            software = (try BudgetedEncoder(wanted), present.source)
            earlierConversions += present.encoder.conversionCount
            adopt(wanted, scaling(to: wanted), from: source(of: wanted))
        } catch {
            refused("\(error)")
        }
    }

    private func source(of wanted: VideoEncoderConfiguration) -> FrameLayout {
        resizing.isSecondSizeGivenUp ? layouts.full : layouts.nearest(to: wanted.size)
    }

    private func scaling(to wanted: VideoEncoderConfiguration) -> FrameScaling {
        FrameScaling(to: wanted.size, by: scalingDevice)
    }

    private func startSuccessor(for wanted: VideoEncoderConfiguration) {
        var next = scaling(to: wanted)
        let source = source(of: wanted)
        do {
            resizing.successor = try makeHardware(wanted, from: source, &next, isProven: true)
            resizing.scaling = next
            resizing.sourceLayout = source
            resizing.successorDeadline = MonotonicClock.now() + ThreadedEncoder.openTimeout
        } catch {
            refused("\(error)")
        }
    }

    private func watch(_ successor: Hardware, for wanted: VideoEncoderConfiguration) throws {
        switch successor.thread.progress {
        case .open: successorIsOpen(successor, wanted)
        case .opening:
            guard let deadline = resizing.successorDeadline, MonotonicClock.now() >= deadline else { return }
            dropSuccessor()
            refused("another encoder has not opened in \(ThreadedEncoder.openTimeout)")
        case .failed(let error):
            dropSuccessor()
            let failure = error as? any EncoderFailure
            guard failure?.isLackOfMemory == true || failure?.mayPassByItself == true else {
                return refused("\(error)")
            }
            try openInPlace(wanted)
        case .ended:
            dropSuccessor()
            refused("the encoder has closed")
        }
    }

    /// Frames in the size before still belong to the encoder before.
    private func successorIsOpen(_ successor: Hardware, _ wanted: VideoEncoderConfiguration) {
        let source = resizing.sourceLayout ?? sourceLayout
        guard newestSize != source.size, layouts.all.contains(where: { $0.size == newestSize }) else {
            return cross(to: successor, wanted)
        }
        guard resizing.wait.isOver(now: MonotonicClock.now()) else { return }
        guard source != layouts.full else {
            leftOverWait = resizing.wait
            return cross(to: successor, wanted)
        }
        // As if the source had one size: the next attempt is for frames that are scaled.
        resizing.isSecondSizeGivenUp = true
        dropSuccessor()
        reports.send(
            .encoderNote("the camera does not give its frames in \(source.size); they are scaled from here on"))
    }

    /// Frames go to the next encoder from here on; those in the one before still come out, up to the next one's keyframe.
    private func cross(to successor: Hardware, _ wanted: VideoEncoderConfiguration) {
        retireNow()
        if let hardware {
            resizing.retiring = (hardware, MonotonicClock.now() + ThreadedEncoder.drainTimeout)
        }
        output.takeOver(by: successor.source)
        hardware = successor
        hardware?.isOpenReported = true
        resizing.successor = nil
        adopt(wanted, resizing.scaling ?? scaling(to: wanted), from: resizing.sourceLayout ?? sourceLayout)
        resizing.scaling = nil
    }

    /// There is memory for one encoder only.
    private func openInPlace(_ wanted: VideoEncoderConfiguration) throws {
        forgetHardware()
        var next = scaling(to: wanted)
        let source = source(of: wanted)
        do {
            hardware = try makeHardware(wanted, from: source, &next, isProven: true)
            recovery = EncoderRecovery(opening: MonotonicClock.now())
            adopt(wanted, next, from: source)
        } catch {
            refused("\(error)")
            // There is none in the size before any more, either.
            try perform(recovery.hardwareFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    private func adopt(_ wanted: VideoEncoderConfiguration, _ next: FrameScaling, from source: FrameLayout) {
        earlierConversions += scaling.passCount
        scaling.close()
        scaling = next
        configuration = wanted
        sourceLayout = source
        resizing.wanted = nil
        resizing.wait.end()
    }

    private func refused(_ reason: String) {
        resizing.wanted = nil
        reports.send(.sizeRefused(reason, keeping: configuration.size))
    }

    // MARK: The one before

    private func retire() {
        guard let (hardware, deadline) = resizing.retiring else { return }
        if hardware.thread.pendingFrameCount == 0 || MonotonicClock.now() >= deadline { retireNow() }
    }

    private func retireNow() {
        guard let (hardware, _) = resizing.retiring else { return }
        resizing.retiring = nil
        earlierConversions += hardware.thread.conversionCount
        hardware.thread.close()
    }

    func dropSuccessor() {
        guard let successor = resizing.successor else { return }
        resizing.successor = nil
        output.ignore(successor.source)
        successor.thread.close()
        resizing.scaling?.close()
        resizing.scaling = nil
        resizing.wait.end()
    }

    func dropResizing() {
        dropSuccessor()
        retireNow()
        resizing.wanted = nil
    }
}

// Frames of a source that gives several sizes.
extension FallbackEncoder {
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

    /// Until the next encoder is open, frames for the present one are wanted.
    public var sourceSize: FrameSize {
        let next = resizing.wait.isUnderWay ? resizing.sourceLayout : nil
        return (next ?? sourceLayout).size
    }

    /// Whether the source took the frame before it was asked for the encoder's size, as happens where the present encoder could
    /// not wait. Scaled, one such frame would make the hardware copy all that follow; so for a while they are left out.
    func isLeftOver(_ frame: CapturedFrame) -> Bool {
        let size = frame.layout.size
        guard size != sourceLayout.size, layouts.all.contains(where: { $0.size == size }) else {
            leftOverWait.end()
            return false
        }
        return !leftOverWait.isOver(now: MonotonicClock.now())
    }
}
