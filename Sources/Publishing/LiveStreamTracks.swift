import Encoding
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

// Reports of sources and encoders.
extension LiveStream {
    func trackReported(_ report: TrackEvent) {
        switch report {
        case .ended(let track, let note):
            hub.trackEnded()
            // Audio alone is useless after the video has ended.
            if track == .video { stopTracks.signal() }
            if let note { reporter.emit(.sourceEnded(track, note: note)) }
        case .video(let event): videoReported(event)
        case .encoder(let event): encoderReported(event)
        case .audio(.source(let event)): reporter.emit(.source(event))
        case .audio(.note(let note)): reporter.emit(.sourceEnded(.audio, note: note))
        case .snapshot(let answer): reporter.emit(.snapshot(answer))
        case .failed(let cause):
            failure = failure ?? cause
            stop()
        }
    }

    private func videoReported(_ event: VideoEvent) {
        switch event {
        case .source(let event): reporter.emit(.source(event))
        case .cameraSwitchFailed(let name, let reason): cameraSwitchFailed(name, reason)
        case .brightness(let brightness): reporter.tell(brightness)
        case .controlled(let readings, let asker): controlled(readings, asker)
        case .controlRefused(let error, let asker): refusedByCamera(error, asker)
        case .filtersLoaded(let result, let id): filtersLoaded(result, id)
        case .changed(let event): reporter.emit(event)
        case .filtersFailed(let reason): reporter.log("warning: filters do not work on these frames: \(reason)")
        }
    }

    private func encoderReported(_ event: EncoderEvent) {
        switch event {
        case .changed(let event): reporter.emit(event)
        case .note(let note): reporter.log("warning: \(note)")
        case .cameraSwitched(let name, let duration): cameraSwitched(to: name, after: duration)
        case .sizeRefused(let reason, let size):
            // A later change of settings must not request it again.
            configuration.settings.resize = .never
            adaptation.sizeRefused(keeping: size)
            refuse(.sizeKept(size, reason: reason))
        case .sizeNotOpened(let reason, let size): sizeNotOpened(size, reason)
        case .settingRefused(let reason): refuse(.encoderSettingKept(reason: reason))
        }
    }

    func takeSnapshot(_ request: SnapshotRequest) {
        guard let snapshots = tracks.snapshots else {
            return reporter.emit(.snapshot(.failed(request, .noVideo)))
        }
        // Frames come only after the first server has accepted the stream, which may never happen.
        guard timeZero != nil else {
            return reporter.emit(.snapshot(.failed(request, .connecting)))
        }
        snapshots.take(request)
    }

    /// Only a restart that changes the size opens the hardware in a size other than the stream's own, which it encoded before.
    private func sizeNotOpened(_ size: FrameSize, _ reason: String) {
        let own = configuration.dimension.size
        guard configuration.settings.resize == .restart, size != own else { return }
        configuration.settings.resize = .never
        let point = adaptation.sizeNotOpened(goingBackTo: own)
        refuse(.sizeKept(own, reason: reason))
        restart(at: point)
    }
}
