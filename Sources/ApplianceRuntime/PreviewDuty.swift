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
    var cameraProblem: String?

    /// - Parameter snapshot: `nil` when nothing is live any more.
    mutating func streamChanged(_ snapshot: StreamSnapshot?) {
        if let snapshot { stream.update(snapshot) } else { stream.end() }
    }

    var streamPage: ScreenPage? { stream.page }
}

extension StreamSupervisor {
    /// Opens or closes the display, as device.json says.
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
            device.tell("no preview: \(error)")
        }
    }

    /// Brings the screen's words up to date.
    func showPage() {
        guard let sink = preview.sink else { return }
        var page = AppliancePage()
        page.state = device.appliance.state
        page.name = device.hasLoaded ? "\(device.files.network.hostName).local" : nil
        page.address = device.network.address
        page.faults = device.appliance.faultBook.lines
        page.stream = preview.streamPage
        page.cameraProblem = preview.cameraProblem
        page.waitsForPress = device.webcam.waitsForPress
        sink.show(page.page)
    }
}
