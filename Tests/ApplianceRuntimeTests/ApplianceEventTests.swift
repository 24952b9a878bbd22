import ApplianceLogic
import Media
import MediaTestSupport
import RecordingLogic
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// Compares the device's events with docs/reference/events.md.
@Suite struct ApplianceEventTests {
    private static let samples: [ApplianceEvent] = [
        .message("button pressed"), .deviceStateChanged(.live), .deviceStateChanged(.fault(.camera)),
        .faultFound("stream.json:1:1 url: must not be empty"),
        .machineRestarting(reason: "it hangs; restart 1 of at most 3"),
        .eventsDropped(count: 7), .recordingChanged(recording), .recordingChanged(problem),
        .recordingFinished(file: "/state/recordings/1.mp4", seconds: 60, byteCount: 7_500_000),
    ]

    private static var recording: RecordingReading {
        var reading = RecordingReading()
        (reading.state, reading.file) = (.recording, "/state/recordings/1.mp4")
        return reading
    }

    private static var problem: RecordingReading {
        var reading = RecordingReading()
        reading.state = .failed(RecordingFailure(.noSpace, "write: no space left on device"))
        return reading
    }

    @Test func tableListsTheEventsAndTheirFields() throws {
        let table = try EventTable(of: "tallycam run")
        #expect(Set(table.names) == Set(Self.samples.map(\.name)))
        for event in Self.samples {
            let row = try table.row(of: event.name)
            let names = event.fields.map(\.name)
            #expect(names == row.fields.filter { names.contains($0) || !row.optionalFields.contains($0) })
            if let code = row.code(of: event.name) { #expect(event.code?.rawValue ?? 0 == code) }
        }
    }

    @Test func textForPeopleIsComplete() {
        #expect(
            Self.samples.map(\.text) == [
                "button pressed", "live", "fault: no camera (4 blinks)",
                "fault: stream.json:1:1 url: must not be empty",
                "machineRestarting (2007): it hangs; restart 1 of at most 3",
                "7 events dropped: this connection was read too slowly",
                "recording: to /state/recordings/1.mp4", "recording: no: write: no space left on device",
                "recorded /state/recordings/1.mp4: 60.0 s, 7500 kB",
            ])
    }
}
