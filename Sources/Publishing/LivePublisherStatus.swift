import LinuxIO
import Media
import StreamLogic

// What is told.
extension LivePublisher {
    private static let snapshotInterval = Duration.milliseconds(250)

    private var snapshot: StreamSnapshot {
        var counted = counters.snapshot
        counted.droppedFrames += queue.refusedPictureCount
        var snapshot = StreamSnapshot(
            time: MonotonicClock.now(), target: options.destination.label, state: session.state, counters: counted,
            buffered: queue.duration, configuration: configuration, point: adaptation.operatingPoint)
        snapshot.begin = timeZero
        snapshot.isStalled = adaptation.isLinkStalled
        snapshot.encoder = tracks.encoderName
        snapshot.linkEstimate = adaptation.linkEstimate
        snapshot.reason = adaptation.lastReason
        return snapshot
    }

    func reportStatus() { reporter.emit(statusReporter.status(snapshot)) }

    /// - Parameter now: `nil` at the end, when nothing more comes.
    func tellDrops(now: MediaTimestamp?) {
        for line in drops.takeLines(since: timeZero, now: now) { reporter.note(line) }
    }

    /// - Parameter isDue: what was shown last is no longer so.
    func showSnapshot(isDue: Bool = false) {
        guard let nextSnapshot, isDue || MonotonicClock.now() >= nextSnapshot else { return }
        self.nextSnapshot = MonotonicClock.now() + Self.snapshotInterval
        reporter.show(snapshot)
    }

    /// What the threads have told of drops since they were last listened to.
    func takeLastDrops() {
        for case .buffer(let events) in trackReports.takeAll() { bufferReported(events) }
        for report in reports.takeAll() {
            if case .buffer(let events) = report.content { bufferReported(events) }
        }
    }

    /// Every thread has ended: each picture of the source is in one of these counts.
    func emitEnd() {
        var sent = counters.snapshot
        sent.droppedFrames += queue.refusedPictureCount + queue.waitingPictureCount
        let seconds = tracks.audioSeconds(units: sent.sentAudioUnits)
        reporter.emit(
            Event(
                "ended",
                text: "ended: \(sent.sentFrames) pictures and \(fixed(seconds, decimals: 1)) s of audio sent, "
                    + "\(sent.skippedFrames) pictures skipped by the encoder, \(sent.droppedFrames) dropped, "
                    + "\(sent.decimatedFrames) decimated",
                [
                    "videoFrames": .integer(sent.sentFrames), "videoSkipped": .integer(sent.skippedFrames),
                    "videoDropped": .integer(sent.droppedFrames), "videoDecimated": .integer(sent.decimatedFrames),
                    "sourceFrames": .integer(sent.videoSource.capturedFrames),
                    "sourceRepeated": .integer(sent.videoSource.repeatedFrames),
                    "videoBytes": .integer(sent.sentVideoBytes),
                    "audioUnits": .integer(sent.sentAudioUnits), "audioBytes": .integer(sent.sentAudioBytes),
                    "audioSeconds": .number(seconds),
                ]))
    }
}
