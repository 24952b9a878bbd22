import LinuxIO
import Media
import StreamLogic

// What is reported.
extension LivePublisher {
    var snapshot: StreamSnapshot {
        var sent = queue.sent
        sent.droppedFrames += hub.refusedFrameCount + queue.refusedFrameCount
        var snapshot = StreamSnapshot(
            time: MonotonicClock.now(), target: settings.destination.label, state: session.state,
            encoded: counters.snapshot, sent: sent, buffered: queue.duration, configuration: configuration, point: adaptation.operatingPoint)
        snapshot.start = timeZero
        snapshot.isStalled = adaptation.isLinkStalled
        snapshot.isPaused = control.isPaused
        snapshot.encoder = tracks.encoder
        snapshot.camera = cameras.current
        snapshot.linkEstimate = adaptation.linkEstimate
        snapshot.reason = adaptation.lastReason
        return snapshot
    }

    func reportStatus() { reporter.emit(.status(statusReporter.status(snapshot))) }

    /// - Parameter now: `nil` at the end, when nothing more comes.
    func tellDrops(now: MediaTimestamp?) {
        for line in drops.takeLines(since: timeZero, now: now) { reporter.note(line) }
    }

    /// - Parameter isDue: what was shown last is no longer so.
    func showSnapshot(isDue: Bool = false) {
        guard let nextSnapshot, isDue || MonotonicClock.now() >= nextSnapshot else { return }
        self.nextSnapshot = MonotonicClock.now() + snapshotInterval
        reporter.show(snapshot)
    }

    /// What the threads have reported of drops since it was last taken.
    func takeLastReports() {
        for report in trackReports.takeAll() {
            switch report {
            case .snapshot(let answer): reporter.emit(.snapshot(answer))
            default: break
            }
        }
        for report in reports.takeAll() {
            if case .buffer(let events) = report { bufferReported(events) }
        }
    }

    /// Every thread has ended: each frame of the source is in one of these counts.
    func emitEnd() {
        var sent = queue.sent
        sent.droppedFrames += hub.refusedFrameCount + queue.refusedFrameCount + queue.waitingFrameCount
        reporter.emit(.ended(counters.snapshot, sent, audioSeconds: tracks.audioSeconds(packets: sent.sentAudioPackets)))
    }
}
