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
            case .changed(let change): reporter.emit(.qualityChanged(change))
            case .uplinkTooSlow(let bitrate): emit(.uplinkTooSlow(bitrate: bitrate))
            case .restart(let point): restart(at: point)
            }
        }
    }
}
