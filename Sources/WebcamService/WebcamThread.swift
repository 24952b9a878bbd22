import Controls
import DevicePorts
import LinuxIO
import Media
import StreamQuality
import USBVideo

/// The work of the thread `webcam`: answers a computer, and sends it frames while it looks. Starts again when the function fails.
final class WebcamThread {
    /// From one try to the next, where nothing else happens.
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    private let feed: WebcamFeed
    private let bus: IsochronousBudget
    private var pause = shortestPause
    private let offer: VideoOffer
    private let asks: Bool
    private let open: Webcam.OpenNode
    private let report: (WebcamReport) -> Void
    private var function: VideoFunction
    private var statuses: [ControlStatus] = []
    /// Which controls the gadget was made with.
    private var offered: [UInt8] = []
    private var frames: WebcamFrames?
    private var pacer: FramePacer?
    private var lastFailure: WebcamError?
    /// It was reported that frames cannot be read.
    private var isImpaired = false
    /// `nil` while the computer wants no frames.
    private var stall: StallWatch?
    /// Somebody at the camera has agreed, or nobody has to.
    private var isAllowed: Bool
    /// What a computer is shown until then, and until there is a frame; `nil` from then on.
    private var card: WaitingCard?

    init(
        _ feed: WebcamFeed, on bus: IsochronousBudget, asks: Bool, open: @escaping Webcam.OpenNode,
        report: @escaping (WebcamReport) -> Void
    ) {
        self.feed = feed
        self.bus = bus
        self.asks = asks
        isAllowed = !asks
        self.open = open
        self.report = report
        offer = VideoOffer(on: bus)
        function = VideoFunction(offer, on: bus)
    }

    func run() {
        // The stream's frames are worth more.
        NamedThread.lowerPriority()
        while !feed.isEnding {
            do throws(WebcamError) {
                let node = try openNode()
                defer { stopFrames() }
                endFailure()
                while !feed.isEnding, !isOutdated(node) { try step(node) }
                disconnected()
            } catch {
                disconnected()
                failed(error)
                wait(until: MonotonicClock.now() + pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// A computer asks once what controls there are: another camera needs another gadget. Not while somebody looks or records.
    private func isOutdated(_ node: any WebcamNode) -> Bool {
        if case .active = function.state { return false }
        return masks != offered && !node.isRecorded
    }

    private var masks: [UInt8] {
        [UnitControl.Unit.camera, .processing].flatMap { UnitControl.mask(of: $0, having: statuses) }
    }

    /// Whatever computer there was, it is none any more.
    private func disconnected() { try? perform(function.handle(.disconnected), on: nil) }

    private func openNode() throws(WebcamError) -> any WebcamNode {
        guard !offer.formats.isEmpty else { throw .noModes(bus) }
        do {
            takeStatuses()
            offered = masks
            return try open(offer, bus, statuses)
        } catch {
            throw .unavailable(reason: "\(error)")
        }
    }

    private func wait(until time: MediaTimestamp) {
        while !feed.isEnding, MonotonicClock.now() < time {
            var entries = [PollEntry(feed.wake.fileDescriptor)]
            guard (try? poll(&entries, until: time)) != nil else { return }
            feed.wake.drain()
        }
    }

    private enum Waited {
        case wake, node
    }

    /// Waits for a frame, an order or the computer, and does what there is to do.
    private func step(_ node: any WebcamNode) throws(WebcamError) {
        var waits: PollSet<Waited> = [.wake: feed.wake.fileDescriptor]
        waits.add(.node, node.fileDescriptor, for: [.priority, .readable])
        do throws(SystemCallError) {
            try waits.wait(until: stall?.nextLook ?? card?.time)
        } catch {
            throw .functionFailed(reason: "\(error)")
        }
        if waits.isReady(.wake) { feed.wake.drain() }
        takeStatuses()
        if asks, feed.takeAllowance() { allowed() }
        if waits.isReady(.node) { try takeEvents(node) }
        guard stall?.nextLook == nil else { return lookAgain(node) }
        try sendFrame(node)
    }

    private func takeStatuses() {
        guard let new = feed.takeStatuses() else { return }
        statuses = new
        function.controlsChanged(new)
    }

    private func takeEvents(_ node: any WebcamNode) throws(WebcamError) {
        var events: [VideoFunction.Event] = []
        do {
            while let event = try node.nextEvent() { events.append(event) }
        } catch {
            throw .functionFailed(reason: "\(error)")
        }
        // A driver that is ready with nothing would be asked again and again.
        guard !events.isEmpty else { throw .functionFailed(reason: "an error is pending, and no event") }
        let newestRequest = events.lastIndex { $0.isSetup || $0.endsRequests }
        for (index, event) in events.enumerated() {
            var actions = function.handle(event)
            // A computer that has asked again, or was reset, takes an answer for that of its last question.
            if event.isSetup, index != newestRequest { actions.removeAll(where: \.isAnswer) }
            try perform(actions, on: node)
            // Those behind it are of the node that was closed.
            if actions.contains(.reopen) { break }
        }
        // It works: what fails now is news, and tried again soon.
        pause = Self.shortestPause
        lastFailure = nil
    }

    /// - Parameter node: `nil` when it is gone.
    private func perform(_ actions: [VideoFunction.Action], on node: (any WebcamNode)?) throws(WebcamError) {
        for action in actions {
            switch action {
            case .answer(let answer): try? node?.answer(answer)
            case .startFrames(let choice): try startFrames(choice, on: node)
            case .stopFrames:
                stopFrames()
                node?.stop()
            case .reopen:
                stopFrames()
                try reopen(node)
            // Whom nobody has agreed to finds it as it was.
            case .change(let change): if isAllowed { report(.change(change)) }
            case .report(let state):
                if state == .notConnected { isAllowed = !asks }
                report(.event(.changed(state)))
            }
        }
    }

    private func reopen(_ node: (any WebcamNode)?) throws(WebcamError) {
        do { try node?.reopen() } catch { throw .functionFailed(reason: "\(error)") }
    }

    /// There is a gadget again. How long it lasts decides the next pause.
    private func endFailure() {
        guard lastFailure != nil else { return }
        lastFailure = nil
        report(.event(.changed(function.state)))
    }

    private func failed(_ error: WebcamError) {
        if error != lastFailure { report(.event(.failed(reason: "\(error)"))) }
        lastFailure = error
    }

    /// A frame of a camera's that is unlike others; reported once for each way of looking.
    private func impaired(_ error: WebcamError) {
        guard !isImpaired else { return }
        isImpaired = true
        report(.event(.impaired(reason: "\(error)")))
    }

    /// - Throws: where the computer would wait for ever for the kernel's answer; another node gives it one.
    private func startFrames(_ choice: VideoChoice, on node: (any WebcamNode)?) throws(WebcamError) {
        do {
            frames = try WebcamFrames(choice, largestFile: largestFile(of: choice))
            try node?.start(choice)
        } catch {
            throw .functionFailed(reason: "\(error)")
        }
        let rate = FrameRate(framesPerSecond: Int(choice.framesPerSecond.rounded()))
        pacer = FramePacer(source: FrameRate(framesPerSecond: rate.framesPerSecond + 1), wanted: rate)
        stall = StallWatch(now: MonotonicClock.now())
        waitForFrames(of: choice)
    }

    /// Until there is one, the computer is shown why.
    private func waitForFrames(of choice: VideoChoice) {
        card = WaitingCard(isAllowed ? .camera : .press, of: choice.mode.size, now: MonotonicClock.now())
        feed.wants(isAllowed && stall?.nextLook == nil)
    }

    /// The descriptors were written for high speed; a slower bus carries less of each frame.
    private func largestFile(of choice: VideoChoice) -> Int {
        guard case .active(let speed, _) = function.state else { return choice.mode.largestFrame }
        let rate = Int(choice.framesPerSecond.rounded())
        return min(choice.mode.largestFrame, bus.carried(at: speed).bytesPerFrame(at: rate))
    }

    /// Not for a computer that is not there: the next one has to ask for itself.
    private func allowed() {
        guard function.state != .notConnected else { return }
        isAllowed = true
        if case .active(_, let choice) = function.state { waitForFrames(of: choice) }
    }

    private func stopFrames() {
        feed.wants(false)
        frames = nil
        pacer = nil
        card = nil
        isImpaired = false
        stall = nil
    }

    /// What is to be sent now, if anything.
    private func nextFrame() throws(WebcamError) -> (frame: CapturedFrame?, colors: VideoColors?)? {
        if let (frame, colors) = feed.takeFrame() {
            card = nil
            return pacer?.frameCaptured(at: frame.captureTime) == true ? (frame, colors) : nil
        }
        do {
            return try card?.frame(now: MonotonicClock.now()).map { ($0, nil) }
        } catch {
            throw .functionFailed(reason: "\(error)")
        }
    }

    /// The camera is not kept open for a computer that takes nothing.
    private func noteRoom(_ hasRoom: Bool) {
        guard stall?.tried(hasRoom: hasRoom, now: MonotonicClock.now()) == true else { return }
        feed.wants(false)
        report(.event(.stalled(true)))
    }

    private func lookAgain(_ node: any WebcamNode) {
        let now = MonotonicClock.now()
        guard let time = stall?.nextLook, time <= now else { return }
        guard stall?.looked(hasRoom: (try? node.hasRoom()) == true, now: now) == true else { return }
        feed.wants(isAllowed)
        report(.event(.stalled(false)))
    }

    private func sendFrame(_ node: any WebcamNode) throws(WebcamError) {
        guard let frames, var next = try nextFrame() else { return }
        var written: Result<Int, WebcamError> = .success(0)
        let isSent: Bool
        var hasRoom = false
        do {
            isSent = try node.send { room in
                hasRoom = true
                written = Result { () throws(WebcamError) in
                    try frames.write(&next.frame, colors: next.colors, into: room)
                }
                return (try? written.get()) ?? 0
            }
        } catch {
            // The computer is gone; its event says so.
            isSent = false
        }
        noteRoom(hasRoom)
        if case .failure(let error) = written { impaired(error) }
        let count = (try? written.get()) ?? 0
        feed.count {
            $0.sentFrames += isSent ? 1 : 0
            $0.lostFrames += isSent ? 0 : 1
            $0.sentBytes += isSent ? count : 0
        }
    }
}
