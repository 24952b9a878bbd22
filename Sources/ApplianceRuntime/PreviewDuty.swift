import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import Settings
import StreamLogic

/// The camera's screen and its text.
struct PreviewDuty {
    /// `nil` if device.json does not enable it.
    var sink: (any PreviewSink)?
    private var stream = StreamPage()
    /// Why there are no frames without a stream, although there should be.
    var cameraProblem: String?

    /// - Parameter snapshot: `nil` if no stream is live any longer.
    mutating func streamChanged(_ snapshot: StreamSnapshot?) {
        if let snapshot { stream.update(snapshot) } else { stream.end() }
    }

    var streamPage: ScreenPage? { stream.page }
}

extension StreamSupervisor {
    /// Opens or closes the display, according to device.json.
    func openPreview() {
        guard (preview.sink != nil) != (device.files.device.preview.display == .hdmi) else { return }
        guard preview.sink == nil else {
            preview.sink = nil
            return
        }
        let reports = streams.reports
        do {
            preview.sink = try streams.engine.openPreview { reports.send(.said(.event(.preview($0)))) }
        } catch {
            device.tell(.noPreview(reason: "\(error)"))
        }
    }

    /// Updates the text on the screen.
    func showPage() {
        guard let sink = preview.sink else { return }
        var page = AppliancePage()
        page.state = device.appliance.state
        page.name = device.hasLoaded ? "\(device.files.network.hostName).local" : nil
        page.address = device.network.address
        page.urls = device.page.urls
        page.faults = device.appliance.faultBook.lines
        page.stream = preview.streamPage
        page.cameraProblem = preview.cameraProblem
        page.isRecording = device.recording.reading.isOn
        page.waitsForPress = device.webcam.waitsForPress
        sink.show(page.page)
    }
}
