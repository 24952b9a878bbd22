import Media
import StreamQuality

extension Event {
    /// What the send buffer said, as the event list has it; drops come one by one.
    /// - Parameter begin: the stream's time zero, from which packets' times are counted.
    public static func ofSendBuffer(_ event: SendBufferEvent, since begin: MediaTimestamp?) -> [Event] {
        switch event {
        case .empty: [Event("bufferEmpty", text: "the send buffer is empty")]
        case .full:
            [
                Event(
                    "bufferFull", code: EventCode.uplinkTooSlow.rawValue,
                    text: "the uplink is too slow: the send buffer is full")
            ]
        case .roseAboveHigh: [Event("bufferHigh", text: "the send buffer rose above its high threshold")]
        case .fellBelowLow: [Event("bufferLow", text: "the send buffer fell below its low threshold")]
        case .durationChanged(let duration):
            [
                // Several in a second: people have the status.
                Event("bufferDuration", text: nil, ["seconds": .number(duration.inSeconds)])
            ]
        case .droppedItems(let items): items.map { dropped($0, since: begin) }
        case .keyFrameNeeded: []
        }
    }

    private static func dropped(_ item: DroppedItem, since begin: MediaTimestamp?) -> Event {
        let time = begin.map { (item.decodeTime - $0).inSeconds } ?? 0
        let kind = item.kind.isVideo ? "picture" : "audio"
        return Event(
            "dropped",
            // Dozens in a second: people have a summary.
            text: nil,
            [
                "kind": .text(kind), "time": .number(time), "bytes": .integer(item.byteCount),
                "reason": .text(item.reason.rawValue),
            ])
    }
}
