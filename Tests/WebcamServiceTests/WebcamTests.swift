import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Testing
import USBVideo

@testable import WebcamService

@Suite struct WebcamTests: WebcamSuite {
    let time = VirtualTime()
    let computer: FakeComputer
    let reports: Mailbox<WebcamReport>

    init() throws {
        computer = try FakeComputer()
        reports = try Mailbox()
    }

    @Test func framesAreSentOnlyWhileAProgramWantsThem() throws {
        try withWebcam { webcam in
            offer(10, to: webcam)
            #expect(frames.isEmpty && webcam.statistics == WebcamStatistics(), "no program uses the webcam")
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
        #expect(states == ["attached", "active", "attached", "notAttached"])
    }

    @Test(arguments: [(666_666, 15), (1_000_000, 10), (2_000_000, 5)])
    func frameRateIsTheComputersChoice(interval: UInt32, rate: Int) throws {
        try withWebcam { webcam in
            look(interval: interval)
            sleep(.milliseconds(10))
            offer(90, to: webcam)
            #expect((3 * rate - 1...3 * rate + 1).contains(frames.count), "\(frames.count)")
        }
    }

    @Test func stalledComputerLosesOnlyItsOwnFrames() throws {
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

    /// A sleeping computer is not always reported as gone.
    @Test func sleepingComputerReleasesTheCamera() throws {
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

    @Test func cablePulledDuringStreamingReopensTheNode() throws {
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

    @Test func missingGadgetIsReportedOnceAndRetriedAtGrowingIntervals() throws {
        computer.content.withLock { $0.absence = "there is no port" }
        try withWebcam { _ in
            sleep(.seconds(600))
            // At intervals of 2, 4, 8, 16, 32 and then 60 seconds.
            #expect((14...16).contains(computer.content.withLock { $0.statuses.count }))
            #expect(reports.takeAll() == [.event(.failed(reason: "there is no port"))])
            computer.content.withLock { $0.absence = nil }
            sleep(.seconds(61))
            #expect(computer.content.withLock { $0.openings } == 1)
            #expect(reports.takeAll() == [.event(.changed(.notAttached))], "there is one now")
        }
    }

    @Test func endingDoesNotWaitForTheKernel() throws {
        try withWebcam { webcam in
            sleep(.milliseconds(10))
            computer.content.withLock { $0.takeDownTime = .seconds(5) }
            let start = MonotonicClock.now()
            webcam.end()
            #expect(MonotonicClock.now() == start)
        }
    }

    @Test func portWithoutCapacityIsReported() throws {
        try withWebcam(on: IsochronousBudget(packetBytes: 1024, interval: 16)) { _ in sleep(.seconds(1)) }
        #expect(computer.content.withLock { $0.openings } == 0)
        let reason = "packets of 1024 bytes and interval 16, as set in devicePort of board.json"
        #expect(reports.takeAll() == [.event(.failed(reason: "the device port cannot carry video with \(reason)"))])
    }

    @Test func failedNodeIsRecreated() throws {
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

    @Test func requestBeforeAResetIsNotAnswered() throws {
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

    @Test func queueThatDoesNotStartNeedsANewGadget() throws {
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
        // The last event belongs to the second gadget.
        #expect(names == ["attached", "active", "notAttached", "failed", "notAttached"])
    }

    /// A camera cannot be closed while its frames are held.
    @Test func frameIsReleasedAsSoonAsItIsRead() throws {
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

    @Test func anotherCamerasControlsNeedANewGadget() throws {
        let brightness = [ControlStatus(ControlOffer(.brightness, range: -1...1), wished: nil, report: CameraReport())]
        try withWebcam { webcam in
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            computer.content.withLock { $0.isRecorded = true }
            webcam.controlsChanged(brightness)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings } == 1, "not while a program shows the webcam")
            computer.does(.streamOff)
            sleep(.seconds(1))
            #expect(computer.content.withLock { $0.openings } == 1, "nor while a program records")
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
