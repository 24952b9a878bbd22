import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic

// Handles the targets' reports and chooses the leading target.
extension LiveStream: TargetOwner {
    var metadata: StreamMetadata { StreamMetadata(tracks) }

    func happened(_ news: PublishTarget.News, to target: PublishTarget) {
        switch news {
        case .mediaFlows: mediaFlows(to: target)
        case .mediaStopped: if target === leading { adaptation.connectionLost() }
        case .stateChanges:
            // The next line redraws the view, which must not show "live" by then.
            if target === leading { showSnapshot(isDue: true) }
        case .statusIsDue: reportStatus(of: target)
        case .over: targetEnded(target)
        }
    }

    private func mediaFlows(to target: PublishTarget) {
        let now = MonotonicClock.now()
        // The first target leads, unless another one has media before it: its server may never answer.
        let isFirst = !hasStarted && !leading.carriesMedia || target.id.number < leading.id.number
        if target !== leading, isFirst { lead(target) }
        if target === leading { adapted(adaptation.connectionOpened(now: now)) }
        guard !hasStarted, let timeZero else { return }
        hasStarted = true
        tracks.start(from: timeZero, until: settings.media.duration.map { timeZero + $0 })
    }

    /// The others go on; the next of them leads.
    private func targetEnded(_ target: PublishTarget) {
        guard let next = targets.first(where: { !$0.isOver }) else { return }
        target.reportFailure()
        hub.remove(target.buffer)
        guard target === leading else { return }
        lead(next)
        guard next.carriesMedia else { return adaptation.connectionLost() }
        adapted(adaptation.connectionOpened(now: MonotonicClock.now()))
    }

    private func lead(_ target: PublishTarget) {
        hub.setLeading(false, leading.buffer)
        leading = target
        hub.setLeading(true, target.buffer)
        adaptation.follow(target.buffer)
    }

    func reported(_ report: TargetReport) {
        guard let target = targets.first(where: { $0.id == report.target }) else { return }
        switch report.content {
        case .connection(let event): target.connectionReported(event, links: links)
        case .buffer(let events): target.bufferReported(events, isStalled: isStalled(target))
        }
    }

    func isStalled(_ target: PublishTarget) -> Bool { target === leading && adaptation.isLinkStalled }

    func linksChanged() {
        guard let links, let events = try? links.takeEvents() else { return }
        if events.contains(where: { if case .linkUp = $0 { true } else { false } }) {
            // Without permission for this, only some time is lost.
            try? links.forgetUnresolvedNeighbors()
        }
        for target in targets { target.linksChanged(events, links) }
    }
}

extension StreamMetadata {
    fileprivate init(_ tracks: MediaTracks) {
        self.init(
            video: tracks.videoConfiguration.map {
                Video(size: $0.size, frameRate: $0.frameRate, bitrate: $0.bitrate)
            },
            audio: tracks.audio.map {
                Audio(bitrate: $0.bitrate, sampleRate: $0.sampleRate, channelCount: $0.channelCount)
            })
    }
}
