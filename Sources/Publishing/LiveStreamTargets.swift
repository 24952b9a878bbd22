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
        case .switchedOff: chooseLeading()
        case .over: targetEnded(target)
        }
    }

    private func mediaFlows(to target: PublishTarget) {
        if target === leading {
            adapted(adaptation.connectionOpened(now: MonotonicClock.now()))
        } else {
            chooseLeading()
        }
        startTracks()
    }

    func startTracks() {
        guard !hasStarted, let timeZero else { return }
        hasStarted = true
        tracks.start(from: timeZero, until: settings.media.duration.map { timeZero + $0 })
    }

    /// The others go on. A failed target is tried again as long as they do.
    private func targetEnded(_ target: PublishTarget) {
        hub.remove(target.buffer)
        chooseLeading()
        if target.failure != nil, !target.isOff, targets.contains(where: { !$0.isOver }) {
            target.reportFailure()
            target.reporter.emit(.stateChanged(.reconnecting))
            target.retryTime = MonotonicClock.now() + Self.retryInterval
        }
    }

    /// The first target that has carried media and is not over leads. Before any has carried media, the first one does.
    private func chooseLeading() {
        let running = targets.filter { !$0.isOver && !$0.isOff }
        guard let next = running.first(where: \.hasCarriedMedia) ?? running.first, next !== leading else { return }
        if let leading { hub.setLeading(false, leading.buffer) }
        hub.setLeading(true, next.buffer)
        leading = next
        reporter.tell(leading: next.id)
        adaptation.follow(next.buffer)
        guard next.carriesMedia else { return adaptation.connectionLost() }
        adapted(adaptation.connectionOpened(now: MonotonicClock.now()))
    }

    func retryTargets(now: MediaTimestamp) {
        for (index, target) in targets.enumerated() {
            guard let time = target.retryTime, time <= now else { continue }
            renew(index)
        }
    }

    /// Starts a target that is over.
    private func renew(_ index: Int) {
        // Late reports are about the former one, whose threads have ended by then.
        targets[index].end()
        for report in reports.takeAll() { reported(report) }
        do {
            let target = try targets[index].renewed()
            targets[index] = target
            target.start()
            target.sourcesOpened()
        } catch {
            targets[index].retryTime = MonotonicClock.now() + Self.retryInterval
            reporter.log("\(targets[index].id) cannot start: \(error)")
        }
    }

    // MARK: Commands

    /// Starts or stops one target; the stream and the others go on.
    func switchTarget(_ name: String, isOn: Bool, for id: CommandID?) {
        guard let index = targets.firstIndex(where: { $0.id.name == name }) else {
            return refuse(.target(.unknown(name, available: targets.compactMap(\.id.name))), for: id)
        }
        let target = targets[index]
        if isOn {
            guard target.isOff || target.retryTime != nil else { return refuse(.target(.alreadyOn(name)), for: id) }
            guard target.isOver else { return refuse(.target(.stillEnding(name)), for: id) }
            renew(index)
        } else {
            guard !target.isOff else { return refuse(.target(.alreadyOff(name)), for: id) }
            guard targets.contains(where: { $0 !== target && !$0.isOver && !$0.isOff }) else {
                return refuse(.target(.onlyOne(name)), for: id)
            }
            target.switchOff()
        }
        if let id { reporter.answer(id, .done(["\(name) \(isOn ? "on" : "off")"])) }
    }

    func reported(_ report: TargetReport) {
        guard let target = targets.first(where: { $0.id == report.target }) else { return }
        switch report.content {
        case .connection(let event): target.connectionReported(event, links: links)
        case .buffer(let events): target.bufferReported(events, isStalled: isStalled(target))
        }
    }

    func isStalled(_ target: PublishTarget?) -> Bool { target === leading && adaptation.isLinkStalled }

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
