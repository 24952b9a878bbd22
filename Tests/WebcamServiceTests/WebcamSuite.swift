import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import USBVideo

@testable import WebcamService

/// A simulated computer: what it does, and what it receives.
final class FakeComputer: Sendable {
    struct Content: Sendable {
        var events: [VideoFunction.Event] = []
        /// The byte count and time of each frame.
        var frames: [(byteCount: Int, time: MediaTimestamp)] = []
        var openings = 0
        var reopenings = 0
        var stops = 0
        /// Why there is no gadget.
        var absence: String?
        /// The node fails with the next event.
        var isBroken = false
        var isBusy = false
        /// The kernel does not start its queue.
        var cannotStart = false
        var isRecorded = false
        /// How long the kernel takes to remove the gadget.
        var takeDownTime = Duration.zero
        var answers: [ControlAnswer] = []
        var statuses: [[ControlStatus]] = []
    }

    let content = Mutex(Content())
    let wake: EventFD

    init() throws { wake = try EventFD() }

    func does(_ events: VideoFunction.Event...) {
        content.withLock { $0.events += events }
        wake.signal()
    }
}

struct NodeFailure: Error, CustomStringConvertible {
    let description: String
}

/// Always readable while there is an event, since a kernel descriptor signals it with priority.
final class FakeNode: WebcamNode {
    private let computer: FakeComputer
    private var memory = [UInt8](repeating: 0, count: 1_000_000)

    init(_ computer: FakeComputer) throws {
        self.computer = computer
        try computer.content.withLock { content in
            if let absence = content.absence { throw NodeFailure(description: absence) }
            content.openings += 1
        }
    }

    deinit {
        MonotonicClock.sleep(until: MonotonicClock.now() + computer.content.withLock { $0.takeDownTime })
    }

    var fileDescriptor: Int32 { computer.wake.fileDescriptor }

    func nextEvent() throws -> VideoFunction.Event? {
        let (isBroken, event, isLast) = computer.content.withLock { content in
            let event = content.events.isEmpty ? nil : content.events.removeFirst()
            return (content.isBroken, event, content.events.isEmpty)
        }
        if isLast { computer.wake.drain() }
        if isBroken { throw NodeFailure(description: "No such device") }
        return event
    }

    var isRecorded: Bool { computer.content.withLock { $0.isRecorded } }
    func answer(_ answer: ControlAnswer) throws { computer.content.withLock { $0.answers.append(answer) } }
    func start(_ choice: VideoChoice) throws {
        if computer.content.withLock({ $0.cannotStart }) { throw NodeFailure(description: "no memory") }
    }
    func stop() { computer.content.withLock { $0.stops += 1 } }
    func reopen() throws { computer.content.withLock { $0.reopenings += 1 } }

    func hasRoom() throws -> Bool { !computer.content.withLock { $0.isBusy } }

    func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int) throws -> Bool {
        guard !computer.content.withLock({ $0.isBusy }) else { return false }
        let count = memory.withUnsafeMutableBytes { fill($0) }
        computer.content.withLock { $0.frames.append((count, MonotonicClock.now())) }
        return count > 0
    }
}

/// Tests of the thread `webcam` with a scripted kernel node.
protocol WebcamSuite {
    var time: VirtualTime { get }
    var computer: FakeComputer { get }
    var reports: Mailbox<WebcamReport> { get }
}

extension WebcamSuite {
    func withWebcam(
        asks: Bool = false, on bus: IsochronousBudget = IsochronousBudget(), _ body: (Webcam) throws -> Void
    ) throws {
        try time.run {
            let (computer, reports, ended) = (computer, reports, try EventFD())
            let webcam = try Webcam(
                on: bus, controls: [], asks: asks,
                open: { _, _, statuses in
                    computer.content.withLock { $0.statuses.append(statuses) }
                    return try FakeNode(computer)
                }, report: { if $0 == .ended { ended.signal() } else { reports.send($0) } })
            try body(webcam)
            webcam.end()
            var entries = [PollEntry(ended.fileDescriptor)]
            try poll(&entries, until: nil)
        }
    }

    func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    /// Setup and data of probe and commit, followed by the start.
    func chooses(_ format: UInt8, _ frame: UInt8, interval: UInt32) -> [VideoFunction.Event] {
        let parameters =
            [1, 0, format, frame] + (0..<4).map { UInt8(truncatingIfNeeded: interval >> (8 * $0)) }
            + [UInt8](repeating: 0, count: 26)
        return [1, 2].flatMap { selector -> [VideoFunction.Event] in
            [
                .setup(SetupPacket(requestType: 0x21, request: 1, value: selector << 8, index: 1, length: 34)),
                .data(parameters),
            ]
        }
    }

    func look(_ format: UInt8 = 2, _ frame: UInt8 = 1, interval: UInt32 = 333_333, at speed: USBSpeed = .high) {
        computer.content.withLock { $0.events += [.connected(speed)] + chooses(format, frame, interval: interval) }
        computer.does(.streamOn)
    }

    static var layout: FrameLayout { FrameLayout(packed: .nv12, size: FrameSize(width: 640, height: 360)) }

    /// Offers thirty frames per second.
    /// - Parameter bytes: content of each frame; gray by default.
    func offer(_ count: Int, of bytes: [UInt8]? = nil, to webcam: Webcam) {
        for _ in 0..<count {
            let memory = PooledFrame(bytes ?? [UInt8](repeating: 128, count: Self.layout.byteCount))
            webcam.offer(
                CapturedFrame(layout: Self.layout, captureTime: MonotonicClock.now(), memory: memory), colors: nil)
            sleep(.nanoseconds(33_333_333))
        }
    }

    var frames: [(byteCount: Int, time: MediaTimestamp)] { computer.content.withLock { $0.frames } }
}
