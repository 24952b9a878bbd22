import DevicePorts
import LinuxIO
import Media
import StreamLogic

// Reports the hardware's state to the recovery and carries out its answers.
extension FallbackEncoder {
    /// Tells the recovery what has happened to the hardware since the last frame.
    func watchHardware() throws {
        guard let thread = hardware?.thread else { return }
        let now = MonotonicClock.now()
        if hardware?.isClosing == true {
            guard thread.hasEnded else { return }
            forgetHardware()
            return try perform(recovery.hardwareClosed(now: now))
        }
        for note in thread.takeNotes() { report(.note("\(path): \(note)")) }
        if case .failed(let error) = thread.progress { return try hardwareFailed(error, now: now) }
        if case .open = thread.progress, hardware?.isOpenReported == false {
            hardware?.isOpenReported = true
            if !recovery.usesSoftware { useHardware() }
            try perform(recovery.hardwareOpened(now: now))
        }
        if let since = thread.blockedSince(now: now) { try perform(recovery.callBlocked(since: since, now: now)) }
        try watchOutput(of: thread, now: now)
    }

    private func watchOutput(of thread: ThreadedEncoder, now: MediaTimestamp) throws {
        let (encoded, faults) = (thread.encodedFrameCount, thread.faultCount)
        if let reported = hardware?.faultsReported, faults > reported {
            hardware?.faultsReported = faults
            for _ in reported..<faults { try perform(recovery.frameFailed(now: now)) }
        }
        guard let reported = hardware?.encodedReported, encoded > reported else { return }
        hardware?.encodedReported = encoded
        try perform(recovery.hardwareEncoded(now: now))
    }

    private func hardwareFailed(_ error: any Error, now: MediaTimestamp) throws {
        guard hardware?.isFailureReported == false else { return }
        hardware?.isFailureReported = true
        guard hardware?.isOpenReported == false else {
            return try perform(recovery.hardwareFailed(reason: "\(error)", now: now))
        }
        let failure = error as? any EncoderFailure
        if failure?.isRefusalOfSize == true { report(.sizeNotOpened("\(error)", configuration.size)) }
        let isDead = failure?.mayBeDeadFirmware ?? false
        try perform(recovery.openingFailed(reason: "\(error)", isDead: isDead, now: now))
    }

    func perform(_ actions: [EncoderRecovery.Action]) throws {
        for action in actions {
            switch action {
            case .forceKeyframe: hardware?.thread.requestKeyframe()
            case .closeHardware:
                hardware?.isClosing = true
                closeHardware()
                // Nothing was opened: there is nothing to wait for.
                if hardware == nil { try perform(recovery.hardwareClosed(now: MonotonicClock.now())) }
            case .openHardware: try openHardwareAgain()
            case .openSoftware: guard try openSoftware() else { return }
            case .crossToHardware: cross()
            case .emit(.failed): break
            case .emit(let event): report(.changed(event))
            case .giveUp(let reason):
                throw StreamFailure(
                    .videoEncodingFailed, needsMachineRestart: true, reason)
            }
        }
    }

    private func openHardwareAgain() throws {
        forgetHardware()
        do {
            try startHardware()
        } catch {
            try perform(recovery.openingFailed(reason: "\(error)", isDead: false, now: MonotonicClock.now()))
        }
    }

    /// Frames still inside count as dropped from here on, so none of them may come out later.
    private func closeHardware() {
        if successor != nil {
            closeSuccessor()
            succession.successorClosed()
        }
        guard let hardware else { return }
        output.ignore(hardware.source)
        hardware.thread.close()
    }

    func forgetHardware() {
        closeHardware()
        earlierConversions += hardware?.thread.conversionCount ?? 0
        hardware = nil
    }

    /// - Returns: false if it did not open; the consequences have been handled.
    private func openSoftware() throws -> Bool {
        guard software == nil else { return true }
        do {
            let source = output.makeSource(of: frames.colors)
            software = (try BudgetedEncoder(configuration), source)
            output.listen(to: source)
            inUse.identity = .software
            return true
        } catch {
            try perform(recovery.softwareFailed(reason: "\(error)"))
            return false
        }
    }

    /// Frames from the software encoder are not repeated; the hardware continues after them with a keyframe.
    private func cross() {
        earlierConversions += software?.encoder.conversionCount ?? 0
        software = nil
        useHardware(after: lastSoftwareTime)
        hardware?.thread.requestKeyframe()
    }
}
