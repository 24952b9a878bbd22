import ApplianceLogic
import Media
import Testing

/// The text of the camera's screen.
@Suite struct AppliancePageTests {
    private func page(_ state: ApplianceState, faults: [String] = [], stream: ScreenPage? = nil) -> ScreenPage {
        var page = AppliancePage()
        page.name = "studio.local"
        page.address = "10.0.2.15"
        page.state = state
        page.faults = faults
        page.stream = stream
        return page.page
    }

    private static let live = ScreenPage(.live, "live 00:12:34", ["Medium1 640x480  1012 of 1100 kbit/s  30 fps"])

    @Test func readyCameraShowsNameAddressAndAdvice() {
        #expect(
            page(.ready) == ScreenPage(.idle, "ready", ["press the button to go live", "studio.local  10.0.2.15"]))
    }

    @Test func pageHasNoNameBeforeTheFilesAreRead() {
        #expect(AppliancePage().page == ScreenPage(.waiting, "starting"))
    }

    @Test(arguments: [ApplianceState.live, .degraded, .liveInSoftware])
    func liveCameraShowsDurationAndRate(state: ApplianceState) {
        let page = page(state, stream: Self.live)
        #expect(page.tone == .live && page.headline == "live 00:12:34")
        #expect(page.lines.first == Self.live.lines.first && page.lines.last == "studio.local  10.0.2.15")
    }

    @Test func pausedCameraIsNotShownAsLive() {
        #expect(page(.paused).headline == "paused" && page(.paused).tone == .waiting)
        #expect(page(.paused).lines.first == "sending a still frame and silence")
    }

    @Test func reconnectingCameraIsNotShownAsLive() {
        let page = page(.reconnecting, stream: Self.live)
        #expect(page.tone == .waiting && page.headline == "connection lost; reconnecting")
    }

    @Test(arguments: ApplianceFault.allCases)
    func everyFaultShowsItsBlinkCountAndAdvice(fault: ApplianceFault) {
        let page = page(.fault(fault))
        #expect(page.tone == .fault)
        #expect(page.headline == "\(fault.meaning) (\(fault.blinkCount) blinks)")
        #expect(page.lines.first == fault.advice && !fault.advice.isEmpty)
    }

    @Test func pageWithoutAStreamExplainsTheMissingCamera() {
        var page = AppliancePage()
        page.state = .ready
        page.cameraProblem = "camera unavailable while idle: it was unplugged"
        #expect(page.page.lines == ["press the button to go live", "camera unavailable while idle: it was unplugged"])
        page.state = .live
        page.stream = Self.live
        #expect(page.page.lines == Self.live.lines)
    }

    @Test func waitingComputerIsShownWithAdvice() {
        var page = AppliancePage()
        page.state = .asked
        page.waitsForPress = true
        #expect(
            page.page
                == ScreenPage(
                    .waiting, "a computer requests the camera", ["press the button to allow video and audio"]))
        // During a stream, too, a press answers the computer.
        page.state = .live
        page.stream = Self.live
        let question = "a computer requests the camera: press the button to allow video and audio"
        #expect(page.page.headline == "live 00:12:34" && page.page.lines == Self.live.lines + [question])
        page.state = .shutdown
        #expect(!page.page.lines.contains(question))
    }

    @Test func faultPageShowsTheFaultsText() {
        let lines = page(.fault(.streamFile), faults: ["stream.json:3:1 url missing"]).lines
        #expect(lines.contains("stream.json:3:1 url missing"))
    }

    @Test func furtherFaultsAreReferredToTheFile() {
        let lines = page(.fault(.settings), faults: (1...5).map { "fault \($0)" }).lines
        #expect(lines.filter { $0.hasPrefix("fault ") } == ["fault 1", "fault 2", "fault 3"])
        #expect(lines.contains("and 2 more: see faults.txt on the card"))
    }
}
