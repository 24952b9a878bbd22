import DevicePorts
import LinuxIO
import Media
import StreamLogic

// Carries out `EncoderSuccession`: another frame size, or another source's frames (`FallbackEncoderSwitching`).
extension FallbackEncoder {
    /// The last requested size counts. It waits while the hardware is being replaced. A refused size is reported, and the
    /// stream keeps the previous one.
    public func resize(to configuration: VideoEncoderConfiguration) throws {
        try perform(succession.sizeWanted(configuration))
        try advanceSuccession()
    }

    /// Takes the steps now possible towards the requested size and another source's frames.
    func advanceSuccession() throws {
        retire()
        try perform(succession.frameArrived(situation, now: MonotonicClock.now()))
    }

    func perform(_ actions: [EncoderSuccession<SourceFrames>.Action]) throws {
        for action in actions {
            switch action {
            case .openSuccessor: try openSuccessor()
            case .closeSuccessor: closeSuccessor()
            case .crossToSuccessor: crossToSuccessor()
            case .openInPlace: try openInPlace()
            case .resizeSoftware: try resizeSoftware()
            case .replaceSoftware: replaceSoftware()
            case .adoptGoal:
                let (wanted, frames) = goal
                adopt(wanted, scaling(to: wanted), of: frames)
            case .setRates(let wanted):
                try setFrameRate(wanted.frameRate, keyframeInterval: wanted.keyframeInterval)
                try setBitrate(wanted.bitrate)
            case .reportRefusal(let reason): report(.sizeRefused(reason, keeping: configuration.size))
            case .reportScaling:
                let size = layouts.nearest(to: goal.configuration.size).size
                report(.note("the camera does not deliver \(size); its frames are scaled from here on"))
            }
        }
    }

    var situation: EncoderSuccession<SourceFrames>.Situation {
        EncoderSuccession.Situation(
            present: present, size: configuration.size, progress: successorProgress,
            isInAnotherSize: successor.map { isNewestInAnotherSize(than: $0.sourceLayout.size) } ?? false,
            takesFullFrames: successor?.sourceLayout == layouts.full)
    }

    private var present: EncoderSuccession<SourceFrames>.Present {
        // Let a running trial of the hardware finish first.
        if recovery.usesSoftware { return hardware.map(\.isClosing) ?? true ? .software : .softwareAndTrial }
        guard let hardware, !hardware.isClosing else { return .none }
        return hardware.isOpenReported && !hardware.isFailureReported ? .hardware : .unsettledHardware
    }

    private var successorProgress: EncoderSuccession<SourceFrames>.Progress? {
        switch successor?.hardware.thread.progress {
        case nil: return nil
        case .opening: return .opening
        case .open: return .open
        case .ended: return .ended
        case .failed(let error):
            let failure = error as? any EncoderFailure
            return .failed(
                reason: "\(error)",
                leavesRoomForOne: failure?.isLackOfMemory == true || failure?.mayPassByItself == true)
        }
    }

    private func isNewestInAnotherSize(than size: FrameSize) -> Bool {
        newestSize != size && layouts.all.contains { $0.size == newestSize }
    }

    /// Configuration and frames of the next encoder, for the requested size, the other source, or both.
    var goal: (configuration: VideoEncoderConfiguration, frames: SourceFrames) {
        (succession.wanted ?? configuration, succession.nextFrames ?? frames)
    }

    func layout(of frames: SourceFrames, for wanted: VideoEncoderConfiguration) -> FrameLayout {
        let isGivenUp = succession.isSecondSizeGivenUp && frames == self.frames
        return isGivenUp ? frames.layouts.full : frames.layouts.nearest(to: wanted.size)
    }

    func scaling(to wanted: VideoEncoderConfiguration) -> FrameScaling {
        FrameScaling(to: wanted.size, by: scalingDevice)
    }

    private func openSuccessor() throws {
        let (wanted, frames) = goal
        var next = scaling(to: wanted)
        let source = layout(of: frames, for: wanted)
        do {
            let hardware = try makeHardware(wanted, from: source, of: frames, &next, isProven: true)
            successor = Successor(hardware: hardware, scaling: next, sourceLayout: source)
        } catch {
            try perform(succession.refused("\(error)"))
        }
    }

    func closeSuccessor() {
        guard var closing = successor else { return }
        successor = nil
        output.ignore(closing.hardware.source)
        closing.hardware.thread.close()
        closing.scaling.close()
    }

    /// From here on, frames go to the next encoder. Those inside the previous one still come out, up to the next one's keyframe.
    private func crossToSuccessor() {
        guard let next = successor else { return }
        let (wanted, frames) = goal
        retireNow()
        if let hardware { retiring = (hardware, MonotonicClock.now() + ThreadedEncoder.drainTimeout) }
        output.takeOver(by: next.hardware.source)
        hardware = next.hardware
        hardware?.isOpenReported = true
        successor = nil
        adopt(wanted, next.scaling, of: frames)
    }

    private func openInPlace() throws {
        let (wanted, frames) = goal
        forgetHardware()
        var next = scaling(to: wanted)
        do {
            hardware = try makeHardware(
                wanted, from: layout(of: frames, for: wanted), of: frames, &next, isProven: true)
            recovery = EncoderRecovery(opening: MonotonicClock.now())
            adopt(wanted, next, of: frames)
        } catch {
            try perform(succession.refused("\(error)"))
            // Close the previous size's hardware, too.
            try perform(recovery.hardwareFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    private func resizeSoftware() throws {
        guard let present = software else { return }
        let (wanted, _) = goal
        do {
            software = (try BudgetedEncoder(wanted), present.source)
            earlierConversions += present.encoder.conversionCount
            adopt(wanted, scaling(to: wanted), of: frames)
        } catch {
            try perform(succession.refused("\(error)"))
        }
    }

    func adopt(_ wanted: VideoEncoderConfiguration, _ next: FrameScaling, of frames: SourceFrames) {
        let source = layout(of: frames, for: wanted)
        let isOtherSource = frames != self.frames
        self.frames = frames
        earlierConversions += scaling.passCount
        scaling.close()
        scaling = next
        configuration = wanted
        sourceLayout = source
        succession.goalAdopted(isOtherSource: isOtherSource)
    }

    func endSuccession() {
        closeSuccessor()
        retireNow()
        succession = EncoderSuccession(openTimeout: ThreadedEncoder.openTimeout)
    }
}

// The previous hardware, and the frames of a source that offers several sizes.
extension FallbackEncoder {
    private func retire() {
        guard let (hardware, deadline) = retiring else { return }
        if hardware.thread.pendingFrameCount == 0 || MonotonicClock.now() >= deadline { retireNow() }
    }

    private func retireNow() {
        guard let (hardware, _) = retiring else { return }
        retiring = nil
        earlierConversions += hardware.thread.conversionCount
        hardware.thread.close()
    }

    /// Until the next encoder is open, the source delivers frames for the present one.
    public var sourceSize: FrameSize {
        succession.awaitsSize ? successor?.sourceLayout.size ?? sourceLayout.size : sourceLayout.size
    }

    func isLeftOver(_ frame: CapturedFrame) -> Bool {
        let isInAnotherSize = isNewestInAnotherSize(than: sourceLayout.size)
        return succession.isLeftOver(isInAnotherSize: isInAnotherSize, now: MonotonicClock.now())
    }
}
