import LinuxIO
import StreamLogic
import StreamQuality

// How it adapts to the network.
extension LivePublisher {
    func adapt() {
        let now = MonotonicClock.now()
        guard let time = adaptation.nextMeasurement, now >= time else { return }
        adapted(adaptation.timePassed(now: now))
        if options.isTraced, let measurement = adaptation.lastMeasurement {
            reporter.emit(.ofMeasurement(measurement, linkEstimate: adaptation.linkEstimate))
        }
    }

    func mediaEnded(on id: ConnectionID) {
        if id == mediaConnection { adaptation.connectionLost() }
    }

    func adapted(_ outcomes: [StreamAdaptation.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .buffer(let events): bufferReported(events)
            case .changed(let change):
                if adaptation.isWarningDue(change, now: MonotonicClock.now()) {
                    emit(.uplinkTooSlow(bitrate: change.linkEstimate ?? change.from.mediaBitrate))
                }
                reporter.emit(.ofQuality(change))
            case .restart(let point): restart(at: point)
            }
        }
    }
}
