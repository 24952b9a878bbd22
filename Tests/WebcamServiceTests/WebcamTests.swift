import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Synchronization
import Testing
import USBVideo

@testable import WebcamService

/// The thread `webcam`, with a kernel's node that does what the test wants.
@Suite struct WebcamTests {
    /// What the computer does, and what it gets.
    final class Computer: Sendable {
        struct Content: Sendable {
            var events: [VideoFunction.Event] = []
            /// Of each frame, how many bytes it had and when it was sent.
            var frames: [(byteCount: Int, time: MediaTimestamp)] = []
            var openings = 0
            var reopenings = 0
            var stops = 0
            /// There is no gadget, for this reason.
            var absence: String?
            /// The node fails with the next event.
            var isBroken = false
            var isBusy = false
            /// The kernel does not start its queue.
            var cannotStart = false
            var isRecorded = false
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

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Always readable while there is an event, as a descriptor of the kernel's is urgent.
    final class Node: WebcamNode {
        private let computer: Computer
        private var memory = [UInt8](repeating: 0, count: 1_000_000)

        init(_ computer: Computer) throws {
            self.computer = computer
            try computer.content.withLock { content in
                if let absence = content.absence { throw Failure(description: absence) }
                content.openings += 1
            }
        }

        var fileDescriptor: Int32 { computer.wake.fileDescriptor }

        func nextEvent() throws -> VideoFunction.Event? {
            let (isBroken, event, isLast) = computer.content.withLock { content in
                let event = content.events.isEmpty ? nil : content.events.removeFirst()
                return (content.isBroken, event, content.events.isEmpty)
            }
            if isLast { computer.wake.drain() }
            if isBroken { throw Failure(description: "No such device") }
            return event
        }

        var isRecorded: Bool { computer.content.withLock { $0.isRecorded } }
        func answer(_ answer: ControlAnswer) throws { computer.content.withLock { $0.answers.append(answer) } }
        func start(_ choice: VideoChoice) throws {
            if computer.content.withLock({ $0.cannotStart }) { throw Failure(description: "no memory") }
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

    private let time = VirtualTime()
    private let computer: Computer
    private let reports: Mailbox<WebcamReport>

    init() throws {
        computer = try Computer()
        reports = try Mailbox()
    }

    private func withWebcam(
        asks: Bool = false, on bus: IsochronousBudget = IsochronousBudget(), _ body: (Webcam) throws -> Void
    ) throws {
        try time.run {
            let (computer, reports) = (computer, reports)
            let webcam = try Webcam(
                on: bus, controls: [], asks: asks,
                open: { _, _, statuses in
                    computer.content.withLock { $0.statuses.append(statuses) }
                    return try Node(computer)
                }, report: { reports.send($0) })
            try body(webcam)
            webcam.end()
        }
    }

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    /// Setup and data of probe and commit, and the start.
    private func chooses(_ format: UInt8, _ frame: UInt8, interval: UInt32) -> [VideoFunction.Event] {
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

    private func look(_ format: UInt8 = 2, _ frame: UInt8 = 1, interval: UInt32 = 333_333) {
        computer.content.withLock { $0.events += [.connected(.high)] + chooses(format, frame, interval: interval) }
        computer.does(.streamOn)
    }

    private static let layout = FrameLayout(packed: .nv12, size: FrameSize(width: 640, height: 360))

    /// Thirty a second.
    private func offer(_ count: Int, to webcam: Webcam) {
        for _ in 0..<count {
            let memory = PooledFrame([UInt8](repeating: 128, count: Self.layout.byteCount))
            webcam.offer(
                CapturedFrame(layout: Self.layout, captureTime: MonotonicClock.now(), memory: memory), colors: nil)
            sleep(.nanoseconds(33_333_333))
        }
    }

    private var frames: [(byteCount: Int, time: MediaTimestamp)] { computer.content.withLock { $0.frames } }

    @Test func framesGoOutWhileSomebodyLooks() throws {
        try withWebcam { webcam in
            offer(10, to: webcam)
            #expect(frames.isEmpty && webcam.statistics == WebcamStatistics(), "nobody looks")
            look()
            sleep(.milliseconds(10))
            offer(30, to: webcam)
            #expect(frames.count == 30 && frames.allSatisfy { $0.byteCount == 640 * 360 * 3 / 2 })
            computer.does(.streamOff)
            sleep(.milliseconds(10))
            offer(10, to: webcam)
            #expect(frames.count == 30 && computer.content.withLock { $0.stops } == 1)
            #expect(webcam.statistics.sentFrames == 30 && webcam.statistics.lostFrames == 0)
        }
        let states = reports.takeAll().compactMap {
            if case .event(.changed(let state)) = $0 { state.name } else { nil }
        }
        #expect(states == ["connected", "active", "connected", "notConnected"])
    }

    @Test(arguments: [(666_666, 15), (1_000_000, 10), (2_000_000, 5)])
    func noMoreThanTheComputerHasChosen(interval: UInt32, rate: Int) throws {
        try withWebcam { webcam in
            look(interval: interval)
            sleep(.milliseconds(10))
            offer(90, to: webcam)
            #expect((3 * rate - 1...3 * rate + 1).contains(frames.count), "\(frames.count)")
        }
    }

    @Test func aJPEGIsNoLargerThanTheBusCarries() throws {
        try withWebcam { webcam in
            look(1, 1)
            sleep(.milliseconds(10))
            offer(3, to: webcam)
            #expect(frames.count == 3 && frames.allSatisfy { $0.byteCount > 100 && $0.byteCount < 20_000 })
        }
    }

    @Test func aComputerThatStandsStillLosesFramesByItself() throws {
        try withWebcam { webcam in
            look()
            sleep(.milliseconds(10))
            computer.content.withLock { $0.isBusy = true }
            offer(30, to: webcam)
            computer.content.withLock { $0.isBusy = false }
            offer(5, to: webcam)
            #expect(webcam.statistics.sentFrames == 5 && webcam.statistics.lostFrames == 30)
        }
    }

    /// One that sleeps is not always reported as gone.
    @Test func aComputerThatSleepsKeepsNoCamera() throws {
        try withWebcam { webcam in
            look()
            sleep(.milliseconds(10))
            offer(5, to: webcam)
            computer.content.withLock { $0.isBusy = true }
            offer(120, to: webcam)
            #expect(webcam.wantsFrames)
            offer(40, to: webcam)
            #expect(!webcam.wantsFrames)
            sleep(.seconds(60))
            computer.content.withLock { $0.isBusy = false }
            sleep(.seconds(2))
            #expect(webcam.wantsFrames)
            offer(5, to: webcam)
            #expect(frames.count == 10)
        }
        let stalls = reports.takeAll().filter { [.event(.stalled(true)), .event(.stalled(false))].contains($0) }
        #expect(stalls == [.event(.stalled(true)), .event(.stalled(false))])
    }

    @Test func aCableThatIsPulledUnderWayOpensTheNodeAnew() throws {
        try withWebcam { webcam in
            look()
            sleep(.milliseconds(10))
            computer.does(.disconnected)
            sleep(.milliseconds(10))
            #expect(computer.content.withLock { $0.reopenings == 1 && $0.stops == 0 && $0.openings == 1 })
            offer(5, to: webcam)
            #expect(frames.isEmpty)
            look()
            sleep(.milliseconds(10))
            offer(5, to: webcam)
            #expect(frames.count == 5)
        }
    }

    @Test func aGadgetThatIsNotThereIsReportedOnceAndTriedLessAndLess() throws {
        computer.content.withLock { $0.absence = "there is no port" }
        try withWebcam { _ in
            sleep(.seconds(600))
            // 2, 4, 8, 16, 32 and then 60 seconds apart.
            #expect((14...16).contains(computer.content.withLock { $0.statuses.count }))
            #expect(reports.takeAll() == [.event(.failed(reason: "there is no port"))])
            computer.content.withLock { $0.absence = nil }
            sleep(.seconds(61))
            #expect(computer.content.withLock { $0.openings } == 1)
            #expect(reports.takeAll() == [.event(.changed(.notConnected))], "there is one now")
        }
    }

    @Test func aPortThatCarriesNothingIsSaid() throws {
        try withWebcam(on: IsochronousBudget(packetBytes: 1024, interval: 16)) { _ in sleep(.seconds(1)) }
        #expect(computer.content.withLock { $0.openings } == 0)
        let reason = "packets of 1024 bytes and interval 16, which devicePort of board.json says"
        #expect(reports.takeAll() == [.event(.failed(reason: "the device port carries no video with \(reason)"))])
    }

    @Test func aNodeThatFailsIsMadeAnew() throws {
        try withWebcam { webcam in
            look()
            sleep(.milliseconds(10))
            computer.content.withLock { $0.isBroken = true }
            computer.does(.streamOff)
            sleep(.milliseconds(10))
            computer.content.withLock { $0.isBroken = false }
            sleep(.seconds(3))
            #expect(computer.content.withLock { $0.openings } == 2)
            look()
            sleep(.milliseconds(10))
            offer(5, to: webcam)
            #expect(frames.count == 5)
        }
        let failures = reports.takeAll().filter { if case .event(.failed) = $0 { true } else { false } }
        #expect(failures == [.event(.failed(reason: "the webcam's function: No such device"))])
    }

    @Test func whoeverWaitsSeesACardUntilSomebodyAgrees() throws {
        try withWebcam(asks: true) { webcam in
            look()
            sleep(.seconds(2))
            #expect((9...11).contains(frames.count), "five a second, and the source's frames not at all")
            webcam.allow()
            sleep(.milliseconds(10))
            let cards = frames.count
            offer(10, to: webcam)
            #expect(frames.count == cards + 10)
            // Until it is unplugged.
            computer.does(.disconnected)
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            let before = frames.count
            offer(10, to: webcam)
            #expect(frames.count <= before + 3)
        }
    }

    @Test func anAgreementWithoutAComputerIsNone() throws {
        try withWebcam(asks: true) { webcam in
            sleep(.milliseconds(10))
            webcam.allow()
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            #expect(!webcam.wantsFrames)
        }
    }

    @Test func onlyTheNewestRequestIsAnswered() throws {
        try withWebcam { _ in
            let (long, short) = (
                SetupPacket(requestType: 0xA1, request: 0x81, value: 0x0100, index: 1, length: 34),
                SetupPacket(requestType: 0xA1, request: 0x86, value: 0x0100, index: 1, length: 1)
            )
            computer.does(.connected(.high), .setup(long), .setup(short))
            sleep(.milliseconds(10))
            #expect(computer.content.withLock { $0.answers } == [.send([3])])
        }
    }

    @Test func aRequestOfBeforeAResetIsNotAnswered() throws {
        try withWebcam { _ in
            let setup = SetupPacket(requestType: 0xA1, request: 0x86, value: 0x0100, index: 1, length: 1)
            computer.does(.connected(.high), .setup(setup), .disconnected, .connected(.high))
            sleep(.milliseconds(10))
            #expect(computer.content.withLock { $0.answers }.isEmpty)
            computer.does(.setup(setup))
            sleep(.milliseconds(10))
            #expect(computer.content.withLock { $0.answers } == [.send([3])])
        }
    }

    @Test(arguments: [false, true]) func whomNobodyHasAgreedToMovesNoControl(isAllowed: Bool) throws {
        let brightness = ControlStatus(ControlOffer(.brightness, range: -1...1), wished: nil, report: CameraReport())
        try withWebcam(asks: true) { webcam in
            webcam.controlsChanged([brightness])
            computer.does(.connected(.high))
            sleep(.seconds(5))
            if isAllowed { webcam.allow() }
            sleep(.milliseconds(10))
            computer.does(
                .setup(SetupPacket(requestType: 0x21, request: 1, value: 0x0200, index: 0x0200, length: 2)),
                .data([50, 0]))
            sleep(.milliseconds(10))
        }
        let changes = reports.takeAll().filter { if case .change = $0 { true } else { false } }
        #expect(changes == (isAllowed ? [.change(ControlChange(.brightness, .number(0.5)))] : []))
    }

    @Test func aQueueThatDoesNotStartNeedsAnotherGadget() throws {
        computer.content.withLock { $0.cannotStart = true }
        try withWebcam { webcam in
            look()
            sleep(.seconds(1))
            #expect(!webcam.wantsFrames)
            computer.content.withLock { $0.cannotStart = false }
            sleep(.seconds(2))
            #expect(computer.content.withLock { $0.openings } == 2)
        }
        let names = reports.takeAll().compactMap { report -> String? in
            guard case .event(let event) = report else { return nil }
            return switch event {
            case .changed(let state): state.name
            case .failed: "failed"
            default: "other"
            }
        }
        // The last one is that of the other gadget.
        #expect(names == ["connected", "active", "notConnected", "failed", "notConnected"])
    }

    /// A camera whose frames somebody holds does not close.
    @Test func aFrameIsHeldNoLongerThanItIsRead() throws {
        try withWebcam { webcam in
            look(1, 3)
            sleep(.milliseconds(10))
            weak var held: PooledFrame?
            do {
                let memory = PooledFrame([UInt8](repeating: 128, count: Self.layout.byteCount))
                held = memory
                webcam.offer(
                    CapturedFrame(layout: Self.layout, captureTime: MonotonicClock.now(), memory: memory), colors: nil)
            }
            sleep(.milliseconds(10))
            #expect(frames.count == 1 && held == nil)
        }
    }

    @Test func aBusOfFullSpeedGetsSmallerFiles() throws {
        try withWebcam { webcam in
            computer.content.withLock { $0.events += [.connected(.full)] + chooses(1, 3, interval: 333_333) }
            computer.does(.streamOn)
            sleep(.milliseconds(10))
            var generator = SeededGenerator(seed: 7)
            let noise = (0..<Self.layout.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for _ in 0..<20 {
                webcam.offer(
                    CapturedFrame(layout: Self.layout, captureTime: MonotonicClock.now(), memory: PooledFrame(noise)),
                    colors: nil)
                sleep(.milliseconds(40))
            }
            // A megabyte a second.
            #expect(frames.allSatisfy { $0.byteCount < 34_000 })
            #expect(webcam.statistics.sentFrames + webcam.statistics.lostFrames == 20)
        }
    }

    @Test func anotherCamerasControlsNeedAnotherGadget() throws {
        let brightness = [ControlStatus(ControlOffer(.brightness, range: -1...1), wished: nil, report: CameraReport())]
        try withWebcam { webcam in
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            computer.content.withLock { $0.isRecorded = true }
            webcam.controlsChanged(brightness)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings } == 1, "not while somebody looks")
            computer.does(.streamOff)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings } == 1, "nor while somebody records")
            computer.content.withLock { $0.isRecorded = false }
            webcam.controlsChanged(brightness)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings == 2 && $0.statuses.last == brightness })
            webcam.controlsChanged(brightness)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings } == 2, "the same again")
        }
    }
}
