import LinuxIO
import Media
import StreamLogic

// Status reports.
extension LiveStream {
    /// As the leading target sees it.
    var snapshot: StreamSnapshot { snapshot(of: leading) }

    private func snapshot(of target: PublishTarget?) -> StreamSnapshot {
        let buffer = target?.buffer
        var sent = buffer?.sent ?? SentCounters()
        sent.droppedFrames += hub.refusedFrameCount + (buffer?.refusedFrameCount ?? 0)
        var snapshot = StreamSnapshot(
            time: MonotonicClock.now(), target: target?.destination.label ?? "",
            state: target?.session.state ?? .unknown,
            encoded: counters.snapshot, sent: sent, configuration: configuration, point: adaptation.operatingPoint)
        if targets.count > 1 { snapshot.targets = targets.map(reading) }
        snapshot.buffered = buffer?.duration ?? .zero
        snapshot.deliveredBytes = buffer?.delivery.byteCount ?? 0
        snapshot.start = hub.publishStart
        snapshot.isStalled = isStalled(target)
        snapshot.isPaused = control.isPaused
        snapshot.encoder = tracks.encoder
        snapshot.camera = cameras.current
        snapshot.linkEstimate = adaptation.linkEstimate
        snapshot.reason = adaptation.lastReason
        return snapshot
    }

    private func reading(of target: PublishTarget) -> TargetReading {
        let state: TargetReading.State =
            if target.isOff {
                .off
            } else if let failure = target.failure, target.isOver {
                .failed(reason: failure.text)
            } else {
                .running(target.session.state)
            }
        return TargetReading(
            target.id, destination: target.destination.label, state: state, isLeading: target === leading,
            buffered: target.buffer.duration, sent: target.buffer.sent, deliveredBytes: target.buffer.delivery.byteCount
        )
    }

    func answerWithStatus(_ id: CommandID) {
        let reporter = leading?.statusReporter ?? StatusReporter(now: MonotonicClock.now())
        self.reporter.answer(id, .status(reporter.statusNow(snapshot)))
    }

    func reportStatus(of target: PublishTarget) {
        target.reporter.emit(.status(target.statusReporter.status(snapshot(of: target))))
    }

    /// - Parameter isDue: whether the last report is outdated.
    func showSnapshot(isDue: Bool = false) {
        guard let nextSnapshot, isDue || MonotonicClock.now() >= nextSnapshot else { return }
        self.nextSnapshot = MonotonicClock.now() + snapshotInterval
        reporter.show(snapshot)
    }

    /// Takes the last reports of the threads.
    func takeLastReports() {
        for case .snapshot(let answer) in trackReports.takeAll() { reporter.emit(.snapshot(answer)) }
        for report in reports.takeAll() {
            if case .buffer = report.content { reported(report) }
        }
    }

    /// All threads have ended, so each frame of the source is in one of these counts.
    func emitEnd() {
        for target in targets where target.failure == nil {
            let buffer = target.buffer
            var sent = buffer.sent
            sent.droppedFrames += hub.refusedFrameCount + buffer.refusedFrameCount + buffer.waitingFrameCount
            target.reporter.emit(
                .ended(counters.snapshot, sent, audioSeconds: tracks.audioSeconds(packets: sent.sentAudioPackets)))
        }
    }
}
