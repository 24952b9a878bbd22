import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import Settings
import StreamLogic

/// The camera's screen, and what it says.
struct PreviewDuty {
    /// `nil` where device.json asks for none.
    var sink: (any PreviewSink)?
    private var stream = StreamPage()
    /// Why there are no frames without a stream, where there were to be some.
    fileprivate var cameraProblem: String?

    /// - Parameter snapshot: `nil` when nothing is live any more.
    mutating func streamChanged(_ snapshot: StreamSnapshot?) {
        if let snapshot { stream.update(snapshot) } else { stream.end() }
    }

    var streamPage: ScreenPage? { stream.page }
}

extension ApplianceRunner {
    /// Opens or closes the display, as device.json says.
    func openPreview() {
        guard (preview.sink != nil) != (files.device.preview.display == .hdmi) else { return }
        guard preview.sink == nil else {
            preview.sink = nil
            return
        }
        let reports = stream.reports
        do {
            preview.sink = try stream.engine.openPreview { reports.send(.said(.event(.preview($0)))) }
        } catch {
            tell("no preview: \(error)")
        }
    }

    /// Has the camera open for the screen as long as nothing else needs it, where device.json says so.
    func showCameraWhileIdle(now: MediaTimestamp) {
        let sink = files.device.preview.camera == .always && !appliance.isPoweringOff ? preview.sink : nil
        stream.previewIdle(
            sink.map { IdlePreviewRequest(camera: IdleCameraDescription(files), preview: $0) }, now: now)
    }

    func idlePreviewChanged(_ event: IdlePreviewEvent) {
        tell(event.text)
        switch event {
        case .away: preview.cameraProblem = event.text
        case .returned: preview.cameraProblem = nil
        }
    }

    func idlePreviewEnded(_ number: Int) {
        let now = MonotonicClock.now()
        preview.cameraProblem = nil
        if stream.idlePreviewEnded(number, now: now) { startWaitingStream(now: now) }
    }

    /// Brings the screen's words up to date.
    func showPage() {
        guard let sink = preview.sink else { return }
        var page = AppliancePage()
        page.state = appliance.state
        page.name = hasLoaded ? "\(files.network.hostName).local" : nil
        page.address = links?.firstAddress
        page.faults = appliance.faultBook.lines
        page.stream = preview.streamPage
        page.cameraProblem = preview.cameraProblem
        sink.show(page.page)
    }
}
