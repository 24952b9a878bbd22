import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the size of its frames changes while it runs. The hardware's next encoder opens beside the present one, which goes on
// until it is there, so that no frame is missing; where the memory forbids two, one closes before the other opens.
extension FallbackEncoder {
    /// What is under way.
    struct Resizing {
        /// The configuration that is wanted; `nil` when it is reached.
        fileprivate(set) var wanted: VideoEncoderConfiguration?
        /// The hardware for it, which is opening, and what scales for it.
        fileprivate(set) var successor: Hardware?
        fileprivate var scaling: FrameScaling?
        fileprivate var successorDeadline: MediaTimestamp?
        /// The hardware before, with the frames that are still in it.
        fileprivate var retiring: (hardware: Hardware, deadline: MediaTimestamp)?

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
        if let successor = resizing.successor { return watch(successor, for: wanted) }
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
            adopt(wanted, scaling(to: wanted))
        } catch {
            refused("\(error)")
        }
    }

    private func scaling(to wanted: VideoEncoderConfiguration) -> FrameScaling {
        FrameScaling(to: wanted.size, by: scalingDevice)
    }

    private func startSuccessor(for wanted: VideoEncoderConfiguration) {
        var next = scaling(to: wanted)
        do {
            resizing.successor = try makeHardware(wanted, &next, isProven: true)
            resizing.scaling = next
            resizing.successorDeadline = MonotonicClock.now() + ThreadedEncoder.openTimeout
        } catch {
            refused("\(error)")
        }
    }

    private func watch(_ successor: Hardware, for wanted: VideoEncoderConfiguration) {
        switch successor.thread.progress {
        case .open: cross(to: successor, wanted)
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
            openInPlace(wanted)
        case .ended:
            dropSuccessor()
            refused("the encoder has closed")
        }
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
        adopt(wanted, resizing.scaling ?? scaling(to: wanted))
        resizing.scaling = nil
    }

    /// There is memory for one encoder only.
    private func openInPlace(_ wanted: VideoEncoderConfiguration) {
        forgetHardware()
        var next = scaling(to: wanted)
        do {
            hardware = try makeHardware(wanted, &next, isProven: true)
            recovery = EncoderRecovery(opening: MonotonicClock.now())
            adopt(wanted, next)
        } catch {
            refused("\(error)")
        }
    }

    private func adopt(_ wanted: VideoEncoderConfiguration, _ next: FrameScaling) {
        earlierConversions += scaling.passCount
        scaling.close()
        scaling = next
        configuration = wanted
        resizing.wanted = nil
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
    }

    func dropResizing() {
        dropSuccessor()
        retireNow()
        resizing.wanted = nil
    }
}
