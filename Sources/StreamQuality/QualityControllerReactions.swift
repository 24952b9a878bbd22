import Media

// The controller's reaction to a measurement, by state.
extension QualityController {
    private var limits: DelayLimits { DelayLimits(settings.bufferLimits, tuning) }

    mutating func react(to measurement: StreamMeasurement) -> [QualityAction] {
        let now = measurement.now
        if case .stalled = state {
            return link.stalledTime(now: now) < tuning.stallTime ? resume(measurement) : []
        }
        if measurement.undeliveredBytes > 0, link.stalledTime(now: now) >= stallTime {
            return stall(now: now)
        }
        switch state {
        case .stalled: return []
        case .steady(let lowSince): return steady(measurement, lowSince: lowSince)
        case .draining(let reducedAt): return drain(measurement, reducedAt: reducedAt)
        case .probing(let probe): return judge(probe, measurement)
        }
    }

    /// A full intermediate buffer accepts nothing until much of it is free, which is not a stall.
    private var stallTime: Duration { tuning.stallTime.scaled(by: patience) }

    private var patience: Double { link.ahead.isKnown ? tuning.patienceAhead : 1 }

    // MARK: Down

    /// Whether more is sent than delivered. A single keyframe causes only a short delay. Four signs indicate more than
    /// that; the buffer's high threshold is the first.
    private func isOverloaded(_ measurement: StreamMeasurement) -> Bool {
        if measurement.bufferLevel == .high { return true }
        let excess = link.excessDelay
        if excess > limits.severe { return true }
        if excess > limits.congested,
            link.leastExcessDelay(over: tuning.slowSignTime) ?? .zero
                > limits.congested.scaled(by: tuning.slowSignShare)
        {
            return true
        }
        guard excess > limits.low, let delivered = link.deliveredRate(over: tuning.fastSignTime),
            let appended = link.appendedRate(over: tuning.fastSignTime)
        else { return false }
        return delivered < appended * tuning.fastSignShare
    }

    /// Whether the queue has not been empty for a whole GOP, so that more than a keyframe filled it.
    private var isFull: Bool {
        link.leastExcessDelay(over: tuning.gopDuration).map { $0 > limits.congested.scaled(by: tuning.fullShare) }
            ?? false
    }

    /// Goes to the link's rate, minus the share needed to send the backlog. Discards a backlog that would take too
    /// long.
    private mutating func reduce(
        _ measurement: StreamMeasurement, _ reason: QualityChangeReason
    ) -> [QualityAction] {
        let now = measurement.now
        if case .draining = state {} else { link.wasFull() }
        let capacity =
            link.latestBusyRate ?? link.deliveredRate(over: tuning.fastSignTime) ?? total(of: operatingPoint)
        noteFailure(capacity: capacity)
        link.guessed(capacity)
        if case .draining = state {
            capacityWhenReduced = min(capacity, capacityWhenReduced ?? capacity)
        } else {
            capacityWhenReduced = capacity
        }
        var backlog = measurement.undeliveredBytes
        let discards = shouldDiscard(measurement, capacity: capacity)
        if discards { backlog -= measurement.waitingBytes }
        let draining = Double(backlog) * 8 / (tuning.drainTime.inSeconds * patience)
        let target = Bitrate(bitsPerSecond: (capacity * tuning.share).bitsPerSecond - Int(draining))
        var actions: [QualityAction] = []
        if target < total(of: operatingPoint) * (1 - tuning.leastChange) {
            state = .draining(reducedAt: now)
            actions = move(to: point(forTotal: target), reason, now: now)
        }
        if discards {
            discardedAt = now
            state = .draining(reducedAt: now)
            actions.insert(.discardWaitingVideo, at: max(0, actions.count - 1))
        }
        return actions
    }

    /// Goes slightly below the link's rate, since it has been just full.
    private mutating func easeOff(_ reason: QualityChangeReason, now: MediaTimestamp) -> [QualityAction] {
        if let easedAt, now - easedAt < tuning.easingInterval { return [] }
        guard let capacity = link.busyRate,
            capacity * tuning.share < total(of: operatingPoint) * (1 - tuning.leastEasing)
        else {
            return []
        }
        noteFailure(capacity: capacity)
        easedAt = now
        state = .steady(lowSince: nil)
        return move(to: point(forTotal: capacity * tuning.share), reason, now: now)
    }

    /// A recent raise that is too much has failed, however good the probe looked. If the link now carries less than
    /// before the raise, the link has changed and the raise is not to blame.
    private mutating func noteFailure(capacity: Bitrate) {
        if let raise, capacity > raise.from * tuning.blameShare { schedule.failed() }
        raise = nil
    }

    /// Whether a frame captured now would be too late behind the backlog, and discarding the backlog helps.
    private func shouldDiscard(_ measurement: StreamMeasurement, capacity: Bitrate) -> Bool {
        let sinceLast = discardedAt.map { measurement.now - $0 } ?? tuning.longestDrainTime
        guard sinceLast >= tuning.discardInterval else { return false }
        let bitsPerSecond = Double(max(1, capacity.bitsPerSecond))
        let backlog = Double(measurement.undeliveredBytes) * 8
        let lateness = backlog / bitsPerSecond
        let saved = Double(measurement.waitingBytes) * 8 / bitsPerSecond
        guard saved > limits.discard.inSeconds * tuning.leastSaving else { return false }
        if lateness > limits.discard.inSeconds { return true }
        // At the lowest rate, too little of the link is left for the backlog, so frames would be late for long.
        let spare = bitsPerSecond - Double(total(of: point(forTotal: .zero)).bitsPerSecond)
        return lateness > limits.discard.inSeconds / 2 && sinceLast >= tuning.longestDrainTime
            && backlog > max(0, spare) * tuning.longestDrainTime.inSeconds
    }

    private mutating func drain(_ measurement: StreamMeasurement, reducedAt: MediaTimestamp) -> [QualityAction] {
        let now = measurement.now
        if link.excessDelay < limits.low, measurement.bufferLevel == .low {
            state = .steady(lowSince: now)
            guard let capacity = link.capacity else { return [] }
            if let before = capacityWhenReduced, capacity > before * tuning.otherLinkFactor,
                link.ahead.provesBetterLink
            {
                // It has become another link: its limit is unknown and its probes have not failed.
                link.capacityRefuted()
                schedule.reset()
            }
            let target = capacity * tuning.share
            guard target > total(of: operatingPoint) * (1 + tuning.leastChange) else { return [] }
            return move(to: point(forTotal: target), .backlogSent, now: now)
        }
        // Each rise above the high threshold may lower the quality, however recent the last reduction was.
        guard isNewlyHigh || now - reducedAt >= tuning.reductionInterval, isOverloaded(measurement) else { return [] }
        return reduce(measurement, .linkCarriesLess)
    }

    private mutating func stall(now: MediaTimestamp) -> [QualityAction] {
        if case .draining = state {} else { link.wasFull() }
        state = .stalled
        schedule.reset()
        return move(to: point(forTotal: .zero), .stalled, now: now)
    }

    private mutating func resume(_ measurement: StreamMeasurement) -> [QualityAction] {
        let now = measurement.now
        link.resumed()
        sizing.linkChanged()
        link.measured(measurement)
        state = .draining(reducedAt: now)
        let report = QualityAction.reportChange(
            QualityChange(from: operatingPoint, to: operatingPoint, reason: .resumed, linkEstimate: nil))
        guard measurement.deliveryDelay > limits.congested else { return [report] }
        // The backlog is old; the first frame that people see again must be current.
        discardedAt = now
        return [.discardWaitingVideo, .requestKeyframe, report]
    }

    // MARK: Up

    private mutating func steady(_ measurement: StreamMeasurement, lowSince: MediaTimestamp?) -> [QualityAction] {
        let now = measurement.now
        if isOverloaded(measurement) { return reduce(measurement, .linkCarriesLess) }
        if isFull {
            let actions = easeOff(.linkCarriesLess, now: now)
            if !actions.isEmpty { return actions }
        }
        if let raise, now - raise.time >= tuning.provingTime {
            schedule.succeeded()
            self.raise = nil
        }
        guard link.excessDelay < limits.low, measurement.bufferLevel == .low else {
            state = .steady(lowSince: nil)
            return []
        }
        state = .steady(lowSince: lowSince ?? now)
        return isProbeDue(after: now - (lowSince ?? now)) ? probe(now: now) : []
    }

    private mutating func isProbeDue(after lowTime: Duration) -> Bool {
        let current = total(of: operatingPoint)
        guard current < largestTotal, isSendingEnough, !link.ahead.isFilling else { return false }
        let hasKnownRoom = link.capacity.map { current < $0 * (tuning.share * (1 - tuning.leastChange)) } ?? true
        // Data delivered in a rush, while a queue emptied or a lost packet was sent again, is not a hint.
        let window = min(.seconds(3), lowTime - tuning.rushTime)
        // Nor is data that an intermediate buffer accepts at once.
        return schedule.isDue(
            after: lowTime, hasKnownRoom: hasKnownRoom, rate: current,
            burst: link.ahead.isKnown ? .zero : link.burstRate(over: window))
    }

    var largestTotal: Bitrate { total(of: point(forTotal: Bitrate(bitsPerSecond: .max / 4))) }

    /// Whether enough is sent to test the link; an encoder with a simple scene sends too little.
    private var isSendingEnough: Bool {
        guard let appended = link.appendedRate(over: .seconds(1)) else { return true }
        return appended > total(of: operatingPoint) * tuning.verifyingShare
    }

    private mutating func probe(now: MediaTimestamp) -> [QualityAction] {
        let current = total(of: operatingPoint)
        var target = current * (link.ahead.isKnown ? tuning.growthAhead : tuning.fastGrowth)
        var isCautious = false
        if let capacity = link.capacity, !schedule.isHinted, target > capacity * tuning.share {
            target = max(current * tuning.cautiousGrowth, capacity * tuning.share)
            isCautious = true
        }
        // Audio alone has no intermediate steps.
        if operatingPoint.videoQuality == nil { target = largestTotal }
        state = .probing(Probe(startedAt: now, isCautious: isCautious))
        raise = (now, from: current)
        return move(to: point(forTotal: target), .probing, now: now)
    }

    /// Judges a probe: it fails when media queues up, and succeeds when the queue keeps running empty.
    private mutating func judge(_ probe: Probe, _ measurement: StreamMeasurement) -> [QualityAction] {
        let now = measurement.now
        if isOverloaded(measurement) {
            let actions = reduce(measurement, .probeFailed)
            if actions.isEmpty { state = .draining(reducedAt: now) }
            return actions
        }
        let elapsed = now - probe.startedAt
        if isFull && elapsed > tuning.gopDuration || !probe.isCautious && isRefuted(after: elapsed) {
            let actions = easeOff(.probeFailed, now: now)
            if !actions.isEmpty { return actions }
        }
        guard elapsed >= timeNeeded(for: probe) else { return [] }
        guard isSendingEnough, link.excessDelay < limits.low, measurement.bufferLevel == .low else {
            // The result is inconclusive; the wait starts again.
            state = .steady(lowSince: nil)
            return []
        }
        // After a success the next step follows soon, and at once if the limit is unknown.
        state = .steady(lowSince: now - schedule.waited(isLimitKnown: link.capacity != nil))
        return []
    }

    /// Whether a probe far above the link's known rate has failed after only a second: the queue did not run empty, and
    /// less was delivered than the target.
    private func isRefuted(after elapsed: Duration) -> Bool {
        guard link.capacity != nil, elapsed >= tuning.refutingTime,
            let least = link.leastExcessDelay(over: tuning.refutingTime),
            least > limits.congested.scaled(by: tuning.fullShare),
            let delivered = link.deliveredRate(over: tuning.refutingTime)
        else { return false }
        return delivered < total(of: operatingPoint) * tuning.refutingShare
    }

    /// Near the link's limit a small excess takes long to show. If not even a keyframe had to wait, the limit is not
    /// near.
    private func timeNeeded(for probe: Probe) -> Duration {
        guard probe.isCautious else { return link.stretched(tuning.fastProbeTime) }
        let isFarFromLimit = link.mostExcessDelay(over: tuning.gopDuration) < limits.congested * tuning.farShare
        return tuning.gopDuration * (isFarFromLimit ? 1 : 2)
    }

    // MARK: The encoder

    mutating func watchEncoder(_ measurement: StreamMeasurement) -> [QualityAction] {
        guard operatingPoint.videoQuality != nil else { return [] }
        let isCorrected = monitor.measured(
            measurement, wanted: operatingPoint.videoBitrate, size: operatingPoint.frameSize)
        sizing.scene(takes: monitor.bitsPerPixel)
        if monitor.skippedShare > tuning.toleratedSkipsOfSize, settings.resize == .seamless, settings.mayResize,
            operatingPoint.videoBitrate < settings.bitrateRange.start, let ladder = settings.frameSizes,
            let smaller = sizing.encoderSkips(
                at: operatingPoint, upTo: settings.bitrateRange.maximum, in: ladder)
        {
            var point = operatingPoint
            point.frameSize = smaller
            return move(to: point, .encoderSkips, now: measurement.now)
        }
        // Half the frames missing looks worse than half the frame rate.
        if monitor.skippedShare > tuning.toleratedSkips,
            let lower = QualityLadder.frameRate(below: operatingPoint.frameRate)
        {
            frameRateCap = (lower, until: operatingPoint.videoBitrate * tuning.skipRelief)
            var point = operatingPoint
            point.frameRate = lower
            return move(to: point, .encoderSkips, now: measurement.now)
        }
        return isCorrected ? [videoCommand] : []
    }
}
