import ApplianceLogic
import LinuxIO
import StreamQuality

// How it adapts to the network.
extension LivePublisher {
    func adapt() {
        let now = MonotonicClock.now()
        guard let time = adaptation.nextMeasurement, now >= time else { return }
        adapted(adaptation.timePassed(now: now))
        if options.isTraced, let measurement = adaptation.lastMeasurement {
            console.emit(.ofMeasurement(measurement, linkEstimate: adaptation.linkEstimate))
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
                console.emit(.ofQuality(change))
            case .restart(let point): restart(at: point)
            }
        }
    }

    /// Ends the stream in order and begins it again with the profile that the point's group has.
    private func restart(at point: OperatingPoint) {
        var configuration = tracks.videoConfiguration
        if let present = configuration {
            do {
                let replacement = try VideoTrack.configuration(
                    options.media, point: point, sourceRate: options.quality.frameRateLimit ?? point.frameRate)
                control.replaceVideoEncoder(replacement)
                configuration = replacement
            } catch {
                // The encoder that there is goes on; only the profile stays what it was.
                console.log("warning: \(error); the stream keeps its profile")
                control.perform([.setVideo(bitrate: point.videoBitrate, frameRate: present.frameRate)])
                return
            }
        }
        if let audio = point.audioQuality { control.setAudioBitrate(audio.bitrate) }
        tracks.restarted(video: configuration, audioBitrate: point.audioQuality?.bitrate)
        queue.paused(replacesVideoEncoder: configuration != nil)
        adaptation.connectionLost()
        mediaConnection = nil
        perform(session.restartRequested(isContinuation: true, now: MonotonicClock.now()))
    }
}
