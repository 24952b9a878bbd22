import Controls
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

// Changes while live.
extension LiveStream {
    func setMuted(_ isMuted: Bool) {
        configuration.isMuted = isMuted
        control.setMuted(isMuted)
        tellMuted()
    }

    func tellMuted() {
        showSnapshot(isDue: true)
        reporter.emit(.muted(configuration.isMuted))
    }

    func listSettings(for id: CommandID) {
        var lines = configuration.values.map(\.description)
        if let camera = cameras.current {
            lines.append("camera \(camera) (of \(cameras.names.joined(separator: ", ")))")
        }
        if !filterChanges.filters.chain.isEmpty { lines += filterLines }
        reporter.answer(id, .done(lines))
    }

    /// Nothing has changed, and the stream continues.
    func refuse(_ refusal: CommandRefusal, for id: CommandID? = nil) {
        reporter.emit(.refused(refusal))
        if let id { reporter.answer(id, .refused(refusal)) }
    }

    /// Makes all of these changes at one frame, or none.
    func apply(_ changes: RequestedChanges, for id: CommandID?) {
        let wanted: LiveConfiguration
        do throws(ControlError) {
            try controlOffers.check(changes.controls)
        } catch {
            return refuse(.control(error, othersChanged: false), for: id)
        }
        do throws(QualityError) {
            wanted = try configuration.applying(changes.configuration)
        } catch {
            return refuse(.quality(error), for: id)
        }
        var range = wanted.settings.bitrateRange
        if range != configuration.settings.bitrateRange, let problem = settings.destinations.limit(&range) {
            return refuse(.target(.tooHighBitrate(limit: problem)), for: id)
        }
        let plan = plan(for: wanted)
        let (ofCamera, ofMicrophones) = (
            changes.controls.filter(\.name.isOfCamera), changes.controls.filter { !$0.name.isOfCamera }
        )
        guard timeZero != nil || ofCamera.isEmpty else { return refuse(.notStarted, for: id) }
        if !changes.configuration.isEmpty, case .refuse(let refusal) = plan { return refuse(refusal, for: id) }
        // The asker gets the camera's answer, which comes later, together with the other changes.
        let others =
            (changes.configuration.isEmpty ? [] : wanted.values.map(\.description)) + ofMicrophones.map(\.description)
        let asker = id.map { ControlAsker($0, others: others) }
        var isTaken = true
        control.together {
            isTaken = ofCamera.isEmpty || control.set(ofCamera, for: asker)
            if isTaken, !changes.configuration.isEmpty { reconfigure(to: wanted, plan) }
        }
        guard isTaken else { return refuse(.cameraIsBusy, for: id) }
        tracks.microphones.change(ofMicrophones, for: ofCamera.isEmpty ? id : nil)
        guard let id, changes.controls.isEmpty else { return }
        reporter.answer(id, .done(plan == .nothing ? ["nothing to change"] : configuration.values.map(\.description)))
    }

    private func plan(for wanted: LiveConfiguration) -> LiveConfiguration.Plan {
        let running = RunningStream(
            isLive: timeZero != nil, takesSampleRate: tracks.hasOwnSampleRate, encoder: tracks.videoConfiguration)
        return configuration.plan(for: wanted, of: running, controller: adaptation.controller)
    }

    private func reconfigure(to wanted: LiveConfiguration, _ plan: LiveConfiguration.Plan) {
        switch plan {
        case .nothing: reporter.note("nothing to change")
        case .refuse(let refusal): refuse(refusal)
        case .change(let replacesEncoder): change(to: wanted, replacesEncoder: replacesEncoder, restarts: false)
        case .restart: change(to: wanted, replacesEncoder: false, restarts: true)
        }
    }

    private func change(to wanted: LiveConfiguration, replacesEncoder: Bool, restarts: Bool) {
        let isMuted = wanted.isMuted == configuration.isMuted ? nil : wanted.isMuted
        let resize = wanted.settings.resize
        if resize != configuration.settings.resize, let warning = settings.destinations.warning(of: resize) {
            reporter.note("warning: \(warning)")
        }
        configuration = wanted
        configuration.settings.frameSizes = FrameSizeLadder(
            full: wanted.dimension.size, smallest: settings.media.smallestSize)
        let replacement = replacesEncoder ? { self.reconfiguredEncoder(at: $0) } : nil
        var events = adaptation.settingsChanged(
            to: configuration.settings, isMuted: isMuted, now: MonotonicClock.now(), replacement: replacement)
        // A change of size alone does not concern the controller.
        if restarts, !events.contains(where: { if case .restart = $0 { true } else { false } }) {
            events.insert(.restart(adaptation.restarting()), at: 0)
        }
        reporter.emit(.configured(wanted))
        if isMuted != nil { tellMuted() }
        adapted(events)
    }

    /// The encoder's configuration at this point; the stream continues without another start.
    func reconfiguredEncoder(at point: OperatingPoint) -> VideoEncoderConfiguration? {
        guard let needed = try? encoderConfiguration(at: point) else { return nil }
        tracks.reconfigured(video: needed, audio: nil)
        return needed
    }

    private func encoderConfiguration(at point: OperatingPoint) throws -> VideoEncoderConfiguration {
        var media = settings.media
        media.quality = configuration.settings.videoQuality ?? media.quality
        media.dimension = configuration.dimension
        return try VideoTrack.configuration(
            media, point: point, maximum: configuration.settings.bitrateRange.maximum,
            sourceRate: tracks.sourceFrameRate ?? point.frameRate,
            stretchesKeyframes: adaptation.controller.stretchesKeyframes)
    }

    /// Ends the stream in order and restarts it at this point, with the profile, size and sample rate now requested.
    func restart(at point: OperatingPoint) {
        var video: VideoEncoderConfiguration?
        do {
            if tracks.videoConfiguration != nil { video = try encoderConfiguration(at: point) }
        } catch {
            // The present encoder continues, at the requested rates.
            adaptation.restartFailed()
            return refuse(.profileKept(reason: "\(error)"))
        }
        let replacesAudio = point.audioQuality.map {
            tracks.hasOwnSampleRate && tracks.audio?.sampleRate != $0.sampleRate
        }
        control.replaceEncoders(
            video: video, dimension: configuration.dimension.size, audio: point.audioQuality,
            replacesAudio: replacesAudio ?? false,
            epoch: hub.epochStarts(replacesVideo: video != nil, replacesAudio: replacesAudio ?? false))
        tracks.reconfigured(video: video, audio: point.audioQuality)
        adaptation.connectionLost()
        for target in targets where !target.isOver { target.restart() }
    }
}
