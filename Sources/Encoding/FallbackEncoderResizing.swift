import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the size of its frames changes while it runs. The hardware's next encoder opens beside the present one, which goes on
// until it is there, so that no frame is missing; where the memory forbids two, one closes before the other opens. A camera
// that gives the new size itself is asked for it then, and the present encoder goes on until its first such frame. Frames of
// another camera take the same way (`FallbackEncoderSwitching`).
extension FallbackEncoder {
    /// The last size asked for counts. While hardware is being replaced it waits; a size that is refused is reported, and the
    /// stream goes on with the one before.
    public func resize(to configuration: VideoEncoderConfiguration) throws {
        dropSuccessor()
        succession.wanted = configuration
        succession.next?.preparation = .underWay
        try settleSize()
    }

    /// Does what can be done now for the wanted size, and for the frames of another source.
    func settleSize() throws {
        retire()
        if let successor = succession.successor { return try watch(successor) }
        if let wanted = succession.wanted, wanted.size == configuration.size {
            succession.wanted = nil
            try setFrameRate(wanted.frameRate, keyframeInterval: wanted.keyframeInterval)
            try setBitrate(wanted.bitrate)
        }
        guard succession.wanted != nil || succession.isPreparing else { return }
        if recovery.usesSoftware {
            // A trial of the hardware that is under way gets its answer first.
            guard let wanted = succession.wanted, hardware == nil || hardware?.isClosing == true else { return }
            resizeSoftware(to: wanted)
        } else if let hardware, hardware.isOpenReported, !hardware.isFailureReported, !hardware.isClosing,
            succession.next == nil || succession.isPreparing
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
        (succession.wanted ?? configuration, succession.next?.frames ?? frames)
    }

    func layout(of frames: SourceFrames, for wanted: VideoEncoderConfiguration) -> FrameLayout {
        let isGivenUp = succession.isSecondSizeGivenUp && frames == self.frames
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
            let hardware = try makeHardware(wanted, from: source, of: frames, &next, isProven: true)
            succession.successor = EncoderSuccession.Successor(
                hardware: hardware, scaling: next, sourceLayout: source,
                deadline: MonotonicClock.now() + ThreadedEncoder.openTimeout)
        } catch {
            refused("\(error)")
        }
    }

    private func watch(_ successor: EncoderSuccession.Successor) throws {
        switch successor.hardware.thread.progress {
        case .open where succession.next != nil: readyForNext()
        case .open: successorIsOpen(successor)
        case .opening:
            guard MonotonicClock.now() >= successor.deadline else { return }
            dropSuccessor()
            refused("another encoder has not opened in \(ThreadedEncoder.openTimeout)")
        case .failed(let error):
            dropSuccessor()
            let failure = error as? any EncoderFailure
            guard failure?.isLackOfMemory == true || failure?.mayPassByItself == true else {
                return refused("\(error)")
            }
            // There is memory for one encoder only.
            if succession.next == nil { try openInPlace() } else { readyForNext() }
        case .ended:
            dropSuccessor()
            refused("the encoder has closed")
        }
    }

    /// Frames in the size before still belong to the encoder before.
    private func successorIsOpen(_ successor: EncoderSuccession.Successor) {
        let source = successor.sourceLayout
        guard newestSize != source.size, layouts.all.contains(where: { $0.size == newestSize }) else {
            return cross(to: successor)
        }
        guard succession.successor?.wait.isOver(now: MonotonicClock.now()) == true else { return }
        guard source != layouts.full else {
            leftOverWait = succession.successor?.wait ?? leftOverWait
            return cross(to: successor)
        }
        // As if the source had one size: the next attempt is for frames that are scaled.
        succession.isSecondSizeGivenUp = true
        dropSuccessor()
        report(
            .note("the camera does not give its frames in \(source.size); they are scaled from here on"))
    }

    /// Frames go to the next encoder from here on; those in the one before still come out, up to the next one's keyframe.
    func cross(to successor: EncoderSuccession.Successor) {
        let (wanted, frames) = target
        retireNow()
        if let hardware {
            succession.retiring = (hardware, MonotonicClock.now() + ThreadedEncoder.drainTimeout)
        }
        output.takeOver(by: successor.hardware.source)
        hardware = successor.hardware
        hardware?.isOpenReported = true
        succession.successor = nil
        adopt(wanted, successor.scaling, of: frames)
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
            succession.isSecondSizeGivenUp = false
            leftOverWait.end()
        }
        earlierConversions += scaling.passCount
        scaling.close()
        scaling = next
        configuration = wanted
        sourceLayout = source
        succession.wanted = nil
    }

    /// What was wanted does not come.
    private func refused(_ reason: String) {
        succession.next?.preparation = .failed(reason: reason)
        guard succession.wanted != nil else { return }
        succession.wanted = nil
        report(.sizeRefused(reason, keeping: configuration.size))
    }

    // MARK: The one before

    private func retire() {
        guard let (hardware, deadline) = succession.retiring else { return }
        if hardware.thread.pendingFrameCount == 0 || MonotonicClock.now() >= deadline { retireNow() }
    }

    private func retireNow() {
        guard let (hardware, _) = succession.retiring else { return }
        succession.retiring = nil
        earlierConversions += hardware.thread.conversionCount
        hardware.thread.close()
    }

    func dropSuccessor() {
        guard var successor = succession.successor else { return }
        succession.successor = nil
        output.ignore(successor.hardware.source)
        successor.close()
    }

    func dropSuccession() {
        dropSuccessor()
        retireNow()
        succession.wanted = nil
        succession.next = nil
    }
}

// Frames of a source that gives several sizes.
extension FallbackEncoder {
    /// Until the next encoder is open, frames for the present one are wanted.
    public var sourceSize: FrameSize {
        guard let successor = succession.successor, successor.wait.isUnderWay else { return sourceLayout.size }
        return successor.sourceLayout.size
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
