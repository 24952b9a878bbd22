import Media
import StreamQuality

/// Summarizes the send buffer's drops for people, at most one line per second and reason. Scripts get every packet.
public struct DropSummary {
    private static let interval = Duration.seconds(1)

    private struct Group {
        var frames = 0
        var audioPackets = 0
        var byteCount = 0
        var first: MediaTimestamp
        var last: MediaTimestamp
    }

    private var groups: [DroppedItem.Reason: Group] = [:]
    /// When the collected drops are due to be reported.
    public private(set) var deadline: MediaTimestamp?

    public init() {}

    public mutating func dropped(_ items: [DroppedItem], now: MediaTimestamp) {
        guard !items.isEmpty else { return }
        deadline = deadline ?? now + Self.interval
        for item in items {
            var group = groups[item.reason] ?? Group(first: item.decodeTime, last: item.decodeTime)
            group.frames += item.kind.isVideo ? 1 : 0
            group.audioPackets += item.kind.isVideo ? 0 : 1
            group.byteCount += item.byteCount
            group.first = min(group.first, item.decodeTime)
            group.last = max(group.last, item.decodeTime)
            groups[item.reason] = group
        }
    }

    /// - Parameters:
    ///   - start: the stream's time zero.
    ///   - now: `nil` to take everything, due or not.
    /// - Returns: one line for each reason.
    public mutating func takeLines(since start: MediaTimestamp?, now: MediaTimestamp?) -> [String] {
        guard let deadline, now.map({ $0 >= deadline }) ?? true else { return [] }
        defer {
            groups = [:]
            self.deadline = nil
        }
        return groups.sorted { $0.value.first < $1.value.first }.map { reason, group in
            let times = [group.first, group.last].map { fixed(($0 - (start ?? $0)).inSeconds, decimals: 1) }
            return
                "dropped \(group.frames) frames and \(group.audioPackets) audio packets from "
                + "\(times[0]) to \(times[1]) s, \((group.byteCount + 999) / 1000) kB: \(reason.words)"
        }
    }
}

extension DroppedItem.Reason {
    fileprivate var words: String {
        switch self {
        case .bufferFull: "send buffer full"
        case .awaitingKeyframe: "undecodable until the next keyframe"
        case .discarded: "too old to be worth sending"
        case .newConnection: "waited for a connection that is gone"
        }
    }
}

extension DroppedItem {
    /// - Parameter time: since the stream's time zero.
    func fields(time: Duration) -> [EventField] {
        [
            ("kind", .text(kind.isVideo ? "video" : "audio")), ("time", .number(time.inSeconds)),
            ("bytes", .integer(byteCount)), ("reason", .text(reason.rawValue)),
        ]
    }
}
