import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the size of its frames changes while it runs. The hardware's next encoder opens beside the present one, which goes on
// until it is there, so that no frame is missing; where the memory forbids two, one closes before the other opens. A camera
// that gives the new size itself is asked for it then, and the present encoder goes on until its first such frame. Frames of
// another camera take the same way (`FallbackEncoderSwitching`).
extension FallbackEncoder {
    /// What is under way.
    struct Resizing {
        /// The configuration that is wanted; `nil` when it is reached.
        var wanted: VideoEncoderConfiguration?
        /// The frames of another source that are to come; `nil` when they do, or none are.
        var next: SourceFrames?
        /// Of the encoder for them.
        var preparation = SourcePreparation.underWay
        /// The hardware for both, which is opening, and what scales for it.
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
        resizing.preparation = .underWay
        try settleSize()
    }

    /// Does what can be done now for the wanted size, and for the frames of another source.
    func settleSize() throws {
        retire()
        if let successor = resizing.successor { return try watch(successor) }
        if let wanted = resizing.wanted, wanted.size == configuration.size {
            resizing.wanted = nil
            try setFrameRate(wanted.frameRate, keyframeInterval: wanted.keyframeInterval)
            try setBitrate(wanted.bitrate)
        }
        let isPreparing = resizing.next != nil && resizing.preparation == .underWay
        guard resizing.wanted != nil || isPreparing else { return }
        if recovery.usesSoftware {
            // A trial of the hardware that is under way gets its answer first.
            guard let wanted = resizing.wanted, hardware == nil || hardware?.isClosing == true else { return }
            resizeSoftware(to: wanted)
        } else if let hardware, hardware.isOpenReported, !hardware.isFailureReported, !hardware.isClosing,
            resizing.next == nil || isPreparing
        {
            startSuccessor()
        }
    }

    private func resizeSoftware(to wanted: VideoEncoderConfiguration) {
        guard let present = software else { return }
        do {
            software = (try BudgetedEncoder(wanted), present.source)
            earlierConversions += present.encoder.conversionCount
            adopt(wanted, scaling(to: wanted), of: frames)
        } catch {
            refused("\(error)")
        }
    }

    /// What is to be encoded next: of the wanted size, or of the other source, or both.
    var target: (configuration: VideoEncoderConfiguration, frames: SourceFrames) {
        (resizing.wanted ?? configuration, resizing.next ?? frames)
    }

    func layout(of frames: SourceFrames, for wanted: VideoEncoderConfiguration) -> FrameLayout {
        let isGivenUp = resizing.isSecondSizeGivenUp && frames == self.frames
        return isGivenUp ? frames.layouts.full : frames.layouts.nearest(to: wanted.size)
    }

    func scaling(to wanted: VideoEncoderConfiguration) -> FrameScaling {
        FrameScaling(to: wanted.size, by: scalingDevice)
    }

    private func startSuccessor() {
        let (wanted, frames) = target
        var next = scaling(to: wanted)
        let source = layout(of: frames, for: wanted)
        do {
            resizing.successor = try makeHardware(wanted, from: source, of: frames, &next, isProven: true)
            resizing.scaling = next
            resizing.sourceLayout = source
            resizing.successorDeadline = MonotonicClock.now() + ThreadedEncoder.openTimeout
        } catch {
            refused("\(error)")
        }
    }

    private func watch(_ successor: Hardware) throws {
        switch successor.thread.progress {
        case .open where resizing.next != nil: readyForNext()
        case .open: successorIsOpen(successor)
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
            // There is memory for one encoder only.
            if resizing.next == nil { try openInPlace() } else { readyForNext() }
        case .ended:
            dropSuccessor()
            refused("the encoder has closed")
        }
    }

    /// Frames in the size before still belong to the encoder before.
    private func successorIsOpen(_ successor: Hardware) {
        let source = resizing.sourceLayout ?? sourceLayout
        guard newestSize != source.size, layouts.all.contains(where: { $0.size == newestSize }) else {
            return cross(to: successor)
        }
        guard resizing.wait.isOver(now: MonotonicClock.now()) else { return }
        guard source != layouts.full else {
            leftOverWait = resizing.wait
            return cross(to: successor)
        }
        // As if the source had one size: the next attempt is for frames that are scaled.
        resizing.isSecondSizeGivenUp = true
        dropSuccessor()
        report(
            .note("the camera does not give its frames in \(source.size); they are scaled from here on"))
    }

    /// Frames go to the next encoder from here on; those in the one before still come out, up to the next one's keyframe.
    func cross(to successor: Hardware) {
        let (wanted, frames) = target
        retireNow()
        if let hardware {
            resizing.retiring = (hardware, MonotonicClock.now() + ThreadedEncoder.drainTimeout)
        }
        output.takeOver(by: successor.source)
        hardware = successor
        hardware?.isOpenReported = true
        resizing.successor = nil
        adopt(wanted, resizing.scaling ?? scaling(to: wanted), of: frames)
        resizing.scaling = nil
    }

    /// One encoder closes before the next one opens.
    func openInPlace() throws {
        let (wanted, frames) = target
        forgetHardware()
        var next = scaling(to: wanted)
        do {
            hardware = try makeHardware(
                wanted, from: layout(of: frames, for: wanted), of: frames, &next, isProven: true)
            recovery = EncoderRecovery(opening: MonotonicClock.now())
            adopt(wanted, next, of: frames)
        } catch {
            refused("\(error)")
            // There is none in the size before any more, either.
            try perform(recovery.hardwareFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    func adopt(_ wanted: VideoEncoderConfiguration, _ next: FrameScaling, of frames: SourceFrames) {
        let source = layout(of: frames, for: wanted)
        if frames != self.frames {
            self.frames = frames
            resizing.isSecondSizeGivenUp = false
            leftOverWait.end()
        }
        earlierConversions += scaling.passCount
        scaling.close()
        scaling = next
        configuration = wanted
        sourceLayout = source
        resizing.wanted = nil
        resizing.wait.end()
    }

    /// What was wanted does not come.
    private func refused(_ reason: String) {
        if resizing.next != nil { resizing.preparation = .failed(reason: reason) }
        guard resizing.wanted != nil else { return }
        resizing.wanted = nil
        report(.sizeRefused(reason, keeping: configuration.size))
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
        resizing.next = nil
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
