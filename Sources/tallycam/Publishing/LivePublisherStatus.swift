import LinuxIO
import Media
import StreamLogic
import StreamQuality

// What is told.
extension LivePublisher {
    private var snapshot: StatusReporter.Snapshot {
        var counted = counters.snapshot
        counted.droppedFrames += queue.refusedPictureCount
        return StatusReporter.Snapshot(
            counters: counted, buffered: queue.duration, state: session.state,
            isStalled: adaptation.isLinkStalled, encoder: tracks.encoderName,
            point: adaptation.operatingPoint, linkEstimate: adaptation.linkEstimate, reason: adaptation.lastReason)
    }

    func reportStatus() { console.emit(statusReporter.status(snapshot, now: MonotonicClock.now())) }

    /// - Parameter now: `nil` at the end, when nothing more comes.
    func tellDrops(now: MediaTimestamp?) {
        for line in drops.takeLines(since: timeZero, now: now) { console.note(line) }
    }

    func showView() {
        guard console.hasTerminal else { return }
        let now = MonotonicClock.now()
        guard now >= statusReporter.nextViewTime else { return }
        let prompt = commandInput?.prompt.map { [$0] } ?? []
        console.show(view: statusReporter.view(snapshot, since: timeZero, now: now) + prompt)
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
        console.emit(
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
