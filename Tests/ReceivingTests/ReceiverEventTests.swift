import Bitstream
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import Receiving

@Suite("Receiver events")
struct ReceiverEventTests {
    private let table: EventTable

    init() throws { table = try EventTable(of: "tallycam receive") }

    private static var tally: MediaTally {
        var tally = MediaTally()
        for time in [0, 40, 80] as [UInt32] {
            tally.add(FLVTag(kind: .video, timestamp: time, body: [time == 0 ? 0x17 : 0x27, 1, 0, 0, 0, 9]))
        }
        return tally
    }

    private static let documented: [(ReceiverEvent, String)] = [
        (.listening(address: "127.0.0.1:1935"), "listening on 127.0.0.1:1935"),
        (.accepted(peer: "10.0.0.2:5000"), "connection from 10.0.0.2:5000"),
        (
            .publisherStarted(peer: "10.0.0.2:5000", application: "live/***", stream: 1, recording: "a.flv"),
            "10.0.0.2:5000 publishes to live/***, recording to a.flv"
        ),
        (
            .publisherEnded(peer: "10.0.0.2:5000", stream: 1, recording: "a.flv", tally),
            "10.0.0.2:5000 ended: 3 frames (1 keyframe, 1 kbit/s), 0.0 s of audio, in a.flv"
        ),
        (
            .refused(peer: "10.0.0.2:5000", ReceiverEvent.Refusal(.nameInUse, application: "live/***")),
            "10.0.0.2:5000 refused: another connection publishes the same stream, live/***"
        ),
    ]

    @Test(arguments: documented)
    func eachEventMatchesTheDocumentation(event: ReceiverEvent, text: String) throws {
        let row = try table.row(of: event.name)
        #expect(event.fields.map(\.name) == row.fields)
        #expect(row.code(of: event.name) == 0 && event.code == nil)
        #expect(event.text == text)
    }

    @Test func tableListsExactlyTheEvents() {
        #expect(Set(Self.documented.map(\.0.name)) == Set(table.names))
    }

    @Test func missingRecordingIsNotMentioned() {
        let event = ReceiverEvent.publisherStarted(peer: "a", application: "live/***", stream: 1, recording: nil)
        #expect(event.text == "a publishes to live/***")
        #expect(event.fields.map(\.name) == ["peer", "application", "stream"])
    }

    @Test func textPastedAfterTheApplicationIsHidden() {
        #expect(streamLabel("live") == "live/***")
        #expect(streamLabel("live?token=1fe2") == "live/***")
        #expect(streamLabel("live/1fe2-2b9c") == "live/***/***")
        #expect(streamLabel("") == "/***")
    }

    @Test func refusedPlayerIsExplained() {
        let event = ReceiverEvent.refused(peer: "a", ReceiverEvent.Refusal(.player, application: "live/***"))
        #expect(event.text == "a refused: it wants to play live/***, but this receiver serves no players")
    }

    @Test func arrivalsAreOnlyForScripts() {
        let arrival = ReceiverEvent.Arrival(
            track: .audio, stream: 2, timestamp: 93, byteCount: 371, time: MediaTimestamp(milliseconds: 1500))
        let event = ReceiverEvent.arrived(arrival)
        #expect(event.text == nil)
        #expect(event.fields.map(\.name) == ["kind", "stream", "timestamp", "bytes", "clock"])
        #expect(
            event.fields.map(\.value)
                == [.text("audio"), .integer(2), .integer(93), .integer(371), .number(1.5)])
    }
}
