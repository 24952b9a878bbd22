import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

// How it is changed while live.
extension LivePublisher {
    func setMuted(_ isMuted: Bool) {
        configuration.isMuted = isMuted
        control.setMuted(isMuted)
        tellMuted()
    }

    private func tellMuted() {
        let isMuted = configuration.isMuted
        let text = isMuted ? "muted: sound goes out as silence" : "no longer muted"
        reporter.emit(Event("muted", text: text, ["muted": .flag(isMuted)]))
    }

    /// Nothing has changed, and the stream goes on.
    func refuse(_ reason: String) {
        reporter.emit(Event("refused", text: "refused: \(reason)", ["reason": .text(reason)]))
    }

    /// Makes the stream so: all of it at one key frame, or by one end and begin where players could not follow.
    func reconfigure(to wanted: LiveConfiguration) {
        let present = configuration
        guard wanted != present else { return reporter.note("nothing to change") }
        guard timeZero != nil else { return refuse("the stream has not begun") }
        let rate = wanted.settings.audioQuality?.sampleRate
        guard rate == present.settings.audioQuality?.sampleRate || tracks.hasOwnSampleRate else {
            return refuse("the sample rate is that of the file or pipe the sound comes from")
        }
        do {
            // The whole transaction is refused where the new picture cannot be.
            if let quality = wanted.settings.videoQuality {
                _ = try quality.level(for: wanted.dimension.size, upTo: wanted.settings.bitrateRange.maximum)
            }
        } catch {
            return refuse("\(error)")
        }
        configuration = wanted
        let isMuted = wanted.isMuted == present.isMuted ? nil : wanted.isMuted
        var outcomes = adaptation.settingsChanged(to: wanted.settings, isMuted: isMuted, now: MonotonicClock.now()) {
            self.encoderOfHigherLevel(at: $0)
        }
        let restarts = outcomes.contains { if case .restart = $0 { true } else { false } }
        if !restarts, wanted.dimension != present.dimension {
            outcomes.insert(.restart(adaptation.restarting()), at: 0)
        }
        let settings = wanted.lines.joined(separator: ", ")
        reporter.emit(Event("configured", text: "now \(settings)", ["settings": .text(settings)]))
        if isMuted != nil { tellMuted() }
        adapted(outcomes)
    }

    /// An encoder whose header announces too little for what is asked of it gives way to another one of the same
    /// profile. Players take its header within the stream.
    private func encoderOfHigherLevel(at point: OperatingPoint) -> VideoEncoderConfiguration? {
        guard let present = tracks.videoConfiguration, let quality = configuration.settings.videoQuality,
            configuration.dimension.size == present.size
        else { return nil }
        let maximum = max(quality.bitrate, configuration.settings.bitrateRange.maximum)
        guard !present.level.carries(present.size, at: quality.frameRate, bitrate: maximum),
            let needed = try? encoderConfiguration(at: point)
        else { return nil }
        tracks.reconfigured(video: needed, audio: nil)
        return needed
    }

    private func encoderConfiguration(at point: OperatingPoint) throws -> VideoEncoderConfiguration {
        var media = options.media
        media.quality = configuration.settings.videoQuality ?? media.quality
        media.dimension = configuration.dimension
        return try VideoTrack.configuration(
            media, point: point, maximum: configuration.settings.bitrateRange.maximum,
            sourceRate: tracks.sourceFrameRate ?? point.frameRate)
    }

    /// Ends the stream in order and begins it again at this point, with the profile, size and sample rate that are
    /// wanted now.
    func restart(at point: OperatingPoint) {
        var video: VideoEncoderConfiguration?
        do {
            if tracks.videoConfiguration != nil { video = try encoderConfiguration(at: point) }
        } catch {
            // The encoder that there is goes on, at the rates that are wanted.
            adaptation.restartFailed()
            return refuse("\(error); the stream keeps its profile")
        }
        let replacesAudio = point.audioQuality.map {
            tracks.hasOwnSampleRate && tracks.audio?.sampleRate != $0.sampleRate
        }
        control.replaceEncoders(video: video, audio: point.audioQuality, replacesAudio: replacesAudio ?? false) {
            queue.paused(replacesVideoEncoder: video != nil, replacesAudioEncoder: replacesAudio ?? false)
        }
        tracks.reconfigured(video: video, audio: point.audioQuality)
        adaptation.connectionLost()
        mediaConnection = nil
        perform(session.restartRequested(isContinuation: true, now: MonotonicClock.now()))
    }
}
