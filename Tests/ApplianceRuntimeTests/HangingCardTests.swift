import FrameFiltering
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// A card that stops answering while a stream reads from it.
@Suite(.serialized) struct HangingCardTests {
    private let time = VirtualTime()
    /// Two points per side that change nothing.
    private static let look =
        "LUT_3D_SIZE 2\n" + (0..<8).map { "\($0 & 1) \($0 >> 1 & 1) \($0 >> 2 & 1)\n" }.joined()

    /// A camera that has been live, with a filter that needs a file.
    private func camera() throws -> (Camera, ScriptedStreams.Run) {
        let camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#)
        try camera.writeFile(Self.look, to: "look.cube")
        try camera.write(
            "device",
            #"{"camera": "synthetic", "filters": [{"filter": "lut", "file": "\#(camera.path("look.cube"))"}]}"#)
        try camera.start()
        let run = try camera.liveRun { _ = try camera.ask("start") }
        _ = try camera.ask("stop")
        try camera.waitUntil { try camera.state() != "live" }
        return (camera, run)
    }

    /// Makes the camera's card hang in a stream's request.
    /// - Returns: signal it to let the card answer.
    private func hang(_ card: CardCalls) throws -> EventFD {
        let (started, release) = (try EventFD(), try EventFD())
        _ = try NamedThread("asks", mayBlock: true) {
            _ = try? card.call(within: .seconds(1)) {
                started.signal()
                var entries = [PollEntry(release.fileDescriptor)]
                _ = try? poll(&entries, until: nil)
            }
        }
        var entries = [PollEntry(started.fileDescriptor)]
        #expect(try poll(&entries, until: MonotonicClock.now() + .seconds(10)) > 0)
        return release
    }

    @Test func hangingCardIsAFaultAndTheButtonStillWorks() throws {
        try time.run {
            let (camera, first) = try camera()
            let release = try hang(first.request.storage.card)
            // Started and stopped with the button, before and after the fault is known.
            for _ in 0..<2 {
                let run = try camera.liveRun { camera.press() }
                let start = MonotonicClock.now()
                #expect(run.request.filters().filters.chain.settings.count == 1)
                #expect(MonotonicClock.now() - start == .seconds(2))
                camera.press()
                try camera.waitUntil { run.isStopped }
                try camera.waitUntil(within: .seconds(90)) { try camera.status().faults.contains(9) }
            }
            release.signal()
            try camera.waitUntil { try !camera.status().faults.contains(9) }
            try camera.end()
        }
    }

    @Test func changedFileIsReadWhenAStreamStarts() throws {
        try time.run {
            let (camera, first) = try camera()
            let known = first.request.filters()
            #expect(known.unusable.isEmpty)
            try camera.writeFile("LUT_3D_SIZE 2\n", to: "look.cube")
            #expect(first.request.filters().unusable.map(\.keyPath) == ["filters[0].file"])
            #expect(first.request.filters().filters.chain.isEmpty)
            try camera.end()
        }
    }
}
