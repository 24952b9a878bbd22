import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Testing
import USBVideo

@testable import WebcamService

/// What a computer sees while there are no frames for it.
@Suite struct WaitingCardTests: WebcamSuite {
    let time = VirtualTime()
    let computer: FakeComputer
    let reports: Mailbox<WebcamReport>

    init() throws {
        computer = try FakeComputer()
        reports = try Mailbox()
    }

    @Test func cardIsShownUntilSomeoneAgrees() throws {
        try withWebcam(asks: true) { webcam in
            look()
            sleep(.seconds(2))
            #expect((9...11).contains(frames.count), "five a second, and the source's frames not at all")
            webcam.allow()
            sleep(.milliseconds(10))
            let cards = frames.count
            offer(10, to: webcam)
            #expect(frames.count == cards + 10)
            // The consent ends when the computer is unplugged.
            computer.does(.disconnected)
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            let before = frames.count
            offer(10, to: webcam)
            #expect(frames.count <= before + 3)
        }
    }

    @Test func consentWithoutAComputerDoesNotCount() throws {
        try withWebcam(asks: true) { webcam in
            sleep(.milliseconds(10))
            webcam.allow()
            sleep(.milliseconds(10))
            look()
            sleep(.milliseconds(10))
            #expect(!webcam.wantsFrames)
        }
    }

    @Test(arguments: [false, true]) func computerWithoutConsentCannotChangeControls(isAllowed: Bool) throws {
        let brightness = ControlStatus(ControlOffer(.brightness, range: -1...1), wished: nil, report: CameraReport())
        try withWebcam(asks: true) { webcam in
            webcam.controlsChanged([brightness])
            // The thread may already have opened a gadget without them, and opens another one.
            sleep(.milliseconds(10))
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

    /// A camera that takes seconds to open, or is missing.
    @Test func cardIsShownWhileTheCameraIsMissing() throws {
        try withWebcam { webcam in
            look()
            sleep(.milliseconds(900))
            #expect(frames.isEmpty, "most cameras are open by now")
            sleep(.milliseconds(9200))
            #expect((44...48).contains(frames.count) && webcam.wantsFrames, "five a second")
            #expect(frames.allSatisfy { $0.byteCount == 640 * 360 * 3 / 2 })
            let cards = frames.count
            offer(30, to: webcam)
            #expect((cards + 29...cards + 31).contains(frames.count))
            // If a camera stalls later, the computer keeps its last frame.
            sleep(.seconds(10))
            #expect((cards + 29...cards + 31).contains(frames.count))
            // Another program sees the card again.
            computer.does(.streamOff)
            sleep(.milliseconds(10))
            let before = frames.count
            look()
            sleep(.seconds(3))
            #expect((before + 9...before + 12).contains(frames.count))
            #expect(webcam.statistics.lostFrames == 0)
        }
    }

    @Test func afterConsentTheCardShowsThatTheCameraIsOpening() throws {
        try withWebcam(asks: true) { webcam in
            look()
            sleep(.seconds(2))
            webcam.allow()
            sleep(.milliseconds(900))
            let cards = frames.count
            #expect(cards <= 11)
            sleep(.seconds(2))
            #expect((cards + 9...cards + 12).contains(frames.count))
        }
    }

    @Test func computerThatFallsAsleepReleasesTheCamera() throws {
        try withWebcam { webcam in
            look()
            sleep(.seconds(2))
            computer.content.withLock { $0.isBusy = true }
            sleep(.seconds(6))
            #expect(!webcam.wantsFrames)
            computer.content.withLock { $0.isBusy = false }
            let before = frames.count
            sleep(.seconds(3))
            #expect(webcam.wantsFrames && frames.count > before + 5)
        }
    }

    /// Black with the text, different for each card and in each size.
    @Test(arguments: [(640, 360), (1920, 1080)]) func cardShowsItsText(width: Int, height: Int) throws {
        let size = FrameSize(width: width, height: height)
        let now = MediaTimestamp(milliseconds: 1000)
        let lumas = try [WaitingCard.Words.press, .camera].map { words in
            var card = WaitingCard(words, of: size, now: now)
            let frame = try card.frame(now: now + .seconds(1))
            #expect(try card.frame(now: now + .milliseconds(1100)) == nil)
            return try #require(frame).withBytes { [UInt8]($0.prefix(size.pixelCount)) }
        }
        for luma in lumas {
            #expect(luma.count { $0 == 16 } > luma.count * 9 / 10 && luma.contains { $0 > 200 })
        }
        #expect(lumas[0] != lumas[1])
    }
}
