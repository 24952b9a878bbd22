import LinuxIO
import StreamLogic
import StreamQuality

// Adaptation to the network.
extension LiveStream {
    func adapt() {
        let now = MonotonicClock.now()
        guard let time = adaptation.nextMeasurement, now >= time else { return }
        adapted(adaptation.timePassed(now: now))
        if settings.isTraced, let measurement = adaptation.lastMeasurement {
            leading?.reporter.emit(.measured(measurement, linkEstimate: adaptation.linkEstimate))
        }
    }

    func adapted(_ events: [StreamAdaptation.Event]) {
        for event in events {
            switch event {
            case .changed(let change): reporter.emit(.qualityChanged(change))
            case .uplinkTooSlow(let bitrate): leading?.reporter.emit(.uplinkTooSlow(bitrate: bitrate))
            case .restart(let point): restart(at: point)
            }
        }
    }
}
