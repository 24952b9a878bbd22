import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import MediaPipeline
@testable import VideoCapture

/// The results of control changes, as reported to those who asked for them.
@Suite struct LiveControlsTests {
    private let time = VirtualTime()
    private let stop: EventFD
    private let requests = EncoderRequests()
    private let reports: Mailbox<TrackEvent>

    init() throws {
        stop = try EventFD()
        reports = try Mailbox()
    }

    private func request(_ id: UInt64, _ changes: ControlChange...) -> EncoderRequests.ControlRequest {
        EncoderRequests.ControlRequest(changes: changes, asker: ControlAsker(CommandID(id)))
    }

    /// The answers since the last call.
    private func answers() -> [String] {
        reports.takeAll().compactMap { report -> String? in
            switch report {
            case .video(.controlled(let readings, let asker)):
                "\(asker?.id.number ?? 0): \(readings.map(\.description).joined(separator: ", "))"
            case .video(.controlRefused(let error, let asker)): "\(asker?.id.number ?? 0): \(error)"
            default: nil
            }
        }
    }

    @Test func changesWaitingForACameraThatHangsAreBounded() {
        let zoom = [ControlChange(.mirror, .flag(true))]
        #expect((1...64).allSatisfy { requests.set(zoom, for: ControlAsker(CommandID($0))) })
        #expect(!requests.set(zoom, for: ControlAsker(CommandID(65))))
    }

    // MARK: During a camera switch

    private func cameras() throws -> AdjustedSource {
        let scripts = ["front", "back"].map { name in
            let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
            return (name, FakeCamera.Script(layout: layout, stop: stop))
        }
        let cameras = scripts.map { name, script in
            SwitchableCamera(name: name) { stop in try FakeCamera(script, stop: stop) }
        }
        let switcher = try CameraSwitcher(
            cameras, takeWish: requests.takeCamera, stop: stop, notify: { _ in }, failed: { _, _ in })
        return AdjustedSource(try #require(switcher), streamSize: FrameSize(width: 64, height: 48))
    }

    /// Takes frames until the condition is true.
    private func frames(of source: AdjustedSource, until condition: () -> Bool) throws {
        let end = MonotonicClock.now() + .seconds(10)
        while !condition() {
            try #require(MonotonicClock.now() < end)
            _ = try #require(try source.nextFrame())
        }
    }

    @Test func earlierRequestsEndAtASwitchAndNewOnesAreForTheNextCamera() throws {
        try time.run {
            let source = try cameras()
            let controls = LiveControls(source, switcher: source.switcher, inUse: ControlsInUse(), reports: reports)
            for _ in 0..<5 { _ = try source.nextFrame() }
            requests.selectCamera("back")
            try frames(of: source) { source.nextCamera != nil }
            controls.apply(request(1, ControlChange(.mirror, .flag(true))))
            source.switcher?.handOver()
            try frames(of: source) { source.switcher?.name == "back" }
            #expect(answers() == [])
            // Arrives with the next camera's first frame.
            controls.apply(request(2, ControlChange(.flip, .flag(true))))
            controls.watch()
            let words = "set before the camera was switched; what it reports is unknown"
            #expect(answers() == ["1: mirror on (\(words))"])
            #expect(source.wishedControls[.flip] == .flag(true) && source.wishedControls[.mirror] == nil)
            var later: [String] = []
            try frames(of: source) {
                if source.next != nil { source.handOver() }
                controls.watch()
                later += answers()
                return !later.isEmpty
            }
            #expect(later == ["2: flip on"])
        }
    }

    // MARK: Delayed refusals

    /// Like a camera on its own thread, reports a refusal a moment later.
    private final class RefusingCamera: VideoSource, ControllableSource {
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
        let frameRate = FrameRate(framesPerSecond: 30)
        let endingNote: String? = nil
        let controlOffers = [ControlOffer(.lens, range: 0...10)].completed { _ in "it lacks it" }
        private(set) var wishedControls = WishedControls()
        let cameraReport = CameraReport()
        var refusal: ControlError?

        func nextFrame() -> CapturedFrame? { nil }
        func apply(_ changes: [ControlChange]) { wishedControls.take(changes) }

        func takeRefusal() -> ControlError? {
            defer { refusal = nil }
            return refusal
        }
    }

    @Test func staleRefusalDoesNotAffectALaterRequest() {
        time.run {
            let camera = RefusingCamera()
            let controls = LiveControls(camera, switcher: nil, inUse: ControlsInUse(), reports: reports)
            camera.refusal = .refused(.lens, reason: "S_CTRL: EIO")
            controls.apply(request(1, ControlChange(.lens, .number(2))))
            controls.watch()
            #expect(answers() == [])
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            controls.watch()
            #expect(answers() == ["1: lens 2"])
        }
    }

    @Test func refusalBelongsToTheWaitingRequest() {
        time.run {
            let camera = RefusingCamera()
            let controls = LiveControls(camera, switcher: nil, inUse: ControlsInUse(), reports: reports)
            controls.apply(request(1, ControlChange(.lens, .number(2))))
            camera.refusal = .refused(.lens, reason: "S_CTRL: EIO")
            // Another request arrives before the refusal was seen.
            controls.apply(request(2, ControlChange(.lens, .number(3))))
            #expect(answers() == ["1: lens is refused: S_CTRL: EIO"])
            camera.refusal = .refused(.lens, reason: "S_CTRL: EBUSY")
            controls.watch()
            #expect(answers() == ["2: lens is refused: S_CTRL: EBUSY"])
        }
    }
}
