import LinuxIO
import StreamLogic
import StreamQuality

// How it adapts to the network.
extension LivePublisher {
    func adapt() {
        let now = MonotonicClock.now()
        guard let time = adaptation.nextMeasurement, now >= time else { return }
        adapted(adaptation.timePassed(now: now))
        if settings.isTraced, let measurement = adaptation.lastMeasurement {
            reporter.emit(.measured(measurement, linkEstimate: adaptation.linkEstimate))
        }
    }

    func mediaEnded(on id: ConnectionID) {
        if id == mediaConnection { adaptation.connectionLost() }
    }

    func adapted(_ events: [StreamAdaptation.Event]) {
        for event in events {
            switch event {
            case .buffer(let events): bufferReported(events)
            case .changed(let change):
                if adaptation.isWarningDue(change, now: MonotonicClock.now()) {
                    emit(.uplinkTooSlow(bitrate: change.linkEstimate ?? change.from.mediaBitrate))
                }
                reporter.emit(.qualityChanged(change))
            case .restart(let point): restart(at: point)
            }
        }
    }
}
