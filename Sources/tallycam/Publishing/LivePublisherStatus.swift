import LinuxIO
import Media
import StreamQuality

// What is told.
extension LivePublisher {
    private var snapshot: StatusReporter.Snapshot {
        StatusReporter.Snapshot(
            counters: counters.snapshot, buffered: queue.duration, state: session.state,
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

    func emitEnd() {
        let sent = counters.snapshot
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
                    "videoBytes": .integer(sent.sentVideoBytes),
                    "audioUnits": .integer(sent.sentAudioUnits), "audioBytes": .integer(sent.sentAudioBytes),
                    "audioSeconds": .number(seconds),
                ]))
    }
}
