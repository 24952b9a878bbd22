import ApplianceLogic
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// The camera's screen: whether it exists, what it shows, and that the stream gets it.
@Suite(.serialized) struct PreviewTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench"}"#) }

    private var pages: [ScreenPage] { camera.streams.preview.record.pages }

    private func start(_ device: String) throws {
        try camera.write("device", #"{"camera": "synthetic"\#(device)}"#)
        try camera.write("network", #"{"hostName": "studio"}"#)
        try camera.start()
    }

    @Test func nothingIsShownIfNotConfigured() throws {
        try time.run {
            try start("")
            _ = try camera.ask("start")
            try camera.waitUntil { camera.streams.runs.count == 1 }
            #expect(camera.streams.runs[0].request.receivers.preview == nil)
            #expect(pages.isEmpty)
            try camera.end()
        }
    }

    /// As the state alone determines it.
    private func page(_ state: ApplianceState) -> ScreenPage {
        var page = AppliancePage()
        page.state = state
        return page.page
    }

    @Test func screenFollowsTheState() throws {
        try time.run {
            try start(#", "preview": "hdmi""#)
            try camera.waitUntil { pages.last?.headline == "ready" }
            #expect(pages.last?.lines.contains { $0.hasPrefix("studio.local") } == true)
            _ = try camera.ask("start")
            try camera.waitUntil { camera.streams.runs.count == 1 }
            let run = camera.streams.runs[0]
            #expect(run.request.receivers.preview === camera.streams.preview)
            run.goLive()
            run.show(Camera.snapshot(live: .seconds(754)))
            try camera.waitUntil { pages.last?.headline == "live 00:12:34" }
            #expect(pages.last?.tone == .live)
            run.say(.stateChanged(.reconnecting))
            try camera.waitUntil { pages.last?.headline == page(.reconnecting).headline }
            _ = try camera.ask("stop")
            run.show(nil)
            try camera.waitUntil { pages.last?.headline == "ready" }
            try camera.end()
        }
    }

    @Test func faultShowsWhatToDo() throws {
        try time.run {
            try camera.write("stream", #"{"url": "http://127.0.0.1/live/x"}"#)
            try start(#", "preview": "hdmi""#)
            try camera.waitUntil { pages.last?.tone == .fault }
            let expected = page(.fault(.streamFile))
            #expect(pages.last?.headline == expected.headline && pages.last?.lines.first == expected.lines.first)
            try camera.end()
        }
    }

    @Test func screenFollowsTheFile() throws {
        try time.run {
            try start("")
            try camera.write("device", #"{"camera": "synthetic", "preview": "hdmi"}"#)
            try camera.waitUntil { pages.last?.headline == "ready" }
            let count = pages.count
            try camera.write("device", #"{"camera": "synthetic", "preview": "off"}"#)
            try camera.waitUntil { try camera.ask("events 50").contains("ready") && pages.count >= count }
            _ = try camera.ask("start")
            try camera.waitUntil {
                camera.streams.runs.last?.request.receivers.preview == nil && !camera.streams.runs.isEmpty
            }
            try camera.end()
        }
    }
}
