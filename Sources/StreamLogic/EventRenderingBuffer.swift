import Media
import StreamQuality

extension DroppedItem {
    /// - Parameter time: since the stream's time zero.
    func fields(time: Duration) -> [EventField] {
        [
            ("kind", .text(kind.isVideo ? "video" : "audio")), ("time", .number(time.inSeconds)),
            ("bytes", .integer(byteCount)), ("reason", .text(reason.rawValue)),
        ]
    }
}
