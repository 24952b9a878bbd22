import Controls
import DevicePorts
import LinuxIO
import Media
import StreamQuality
import USBVideo

/// The body of the thread `webcam`: answers a computer and sends it frames while a program there has opened the webcam. Starts
/// over when the function fails.
final class WebcamThread {
    /// Interval between attempts if nothing else happens.
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
    /// The controls that the gadget was created with.
    private var offered: [UInt8] = []
    private var frames: WebcamFrames?
    private var pacer: FramePacer?
    private var lastFailure: WebcamError?
    /// Whether unreadable frames were already reported.
    private var isImpaired = false
    /// `nil` while the computer wants no frames.
    private var stall: StallWatch?
    /// Whether someone at the camera has agreed, or consent is not needed.
    private var isAllowed: Bool
    /// The card to show until there is consent and a frame; `nil` afterwards.
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
        // The stream's frames have priority.
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

    /// A computer queries the controls only once, so another camera needs a new gadget. Wait while a program uses the webcam.
    private func isOutdated(_ node: any WebcamNode) -> Bool {
        if case .active = function.state { return false }
        return masks != offered && !node.isRecorded
    }

    private var masks: [UInt8] {
        [UnitControl.Unit.camera, .processing].flatMap { UnitControl.mask(of: $0, having: statuses) }
    }

    /// Treats any connected computer as gone.
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

    /// Waits for a frame, an order or the computer, and handles it.
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
        // A driver that reports readiness without an event would cause a busy loop.
        guard !events.isEmpty else { throw .functionFailed(reason: "an error is pending, and no event") }
        let newestRequest = events.lastIndex { $0.isSetup || $0.endsRequests }
        for (index, event) in events.enumerated() {
            var actions = function.handle(event)
            // After a newer request or a reset, the computer would take this answer for that of its last request.
            if event.isSetup, index != newestRequest { actions.removeAll(where: \.isAnswer) }
            try perform(actions, on: node)
            // The remaining events belong to the closed node.
            if actions.contains(.reopen) { break }
        }
        // The node works, so the next failure is news again and is retried soon.
        pause = Self.shortestPause
        lastFailure = nil
    }

    /// - Parameter node: `nil` if it is gone.
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
            // Without consent, the computer's changes are ignored.
            case .change(let change): if isAllowed { report(.change(change)) }
            case .report(let state):
                if state == .notAttached { isAllowed = !asks }
                report(.event(.changed(state)))
            }
        }
    }

    private func reopen(_ node: (any WebcamNode)?) throws(WebcamError) {
        do { try node?.reopen() } catch { throw .functionFailed(reason: "\(error)") }
    }

    /// The gadget exists again. How long it lasts determines the next pause.
    private func endFailure() {
        guard lastFailure != nil else { return }
        lastFailure = nil
        report(.event(.changed(function.state)))
    }

    private func failed(_ error: WebcamError) {
        if error != lastFailure { report(.event(.failed(reason: "\(error)"))) }
        lastFailure = error
    }

    /// Reports an unusual frame of a camera, once each time the webcam is opened.
    private func impaired(_ error: WebcamError) {
        guard !isImpaired else { return }
        isImpaired = true
        report(.event(.impaired(reason: "\(error)")))
    }

    /// - Throws: if the computer would wait forever for the kernel's answer; a new node answers it.
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

    /// Until a frame arrives, shows the computer what it is waiting for.
    private func waitForFrames(of choice: VideoChoice) {
        card = WaitingCard(isAllowed ? .camera : .press, of: choice.mode.size, now: MonotonicClock.now())
        feed.wants(isAllowed && stall?.nextLook == nil)
    }

    /// The descriptors were written for high speed; a slower bus carries less per frame.
    private func largestFile(of choice: VideoChoice) -> Int {
        guard case .active(let speed, _) = function.state else { return choice.mode.largestFrame }
        let rate = Int(choice.framesPerSecond.rounded())
        return min(choice.mode.largestFrame, bus.carried(at: speed).bytesPerFrame(at: rate))
    }

    /// Consent does not apply if no computer is connected: the next one has to ask itself.
    private func allowed() {
        guard function.state != .notAttached else { return }
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

    /// The frame to send now, if any.
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
            // The computer is gone, which an event will report.
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
