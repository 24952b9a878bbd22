import DequeModule
import Media

/// The packets handed out last, used to convert a number of bytes in flight to a time.
struct ByteLedger: Sendable {
    private struct Entry {
        let byteCount: Int
        let track: Track
        let span: Duration
    }

    private var entries: Deque<Entry> = []
    private(set) var byteCount = 0
    /// The duration of each track's packets in the ledger.
    private(set) var span = PerTrack(video: Duration.zero, audio: .zero)

    /// The number of each track's packets in the ledger, including headers.
    private(set) var count = PerTrack(video: 0, audio: 0)

    mutating func append(byteCount: Int, track: Track, span: Duration) {
        entries.append(Entry(byteCount: byteCount, track: track, span: span))
        self.byteCount += byteCount
        self.span[track] += span
        count[track] += 1
    }

    /// Forgets all but the last `remaining` bytes. A packet that is only partly among them is kept whole.
    mutating func trim(to remaining: Int) {
        while let first = entries.first, byteCount - first.byteCount >= max(0, remaining) {
            entries.removeFirst()
            byteCount -= first.byteCount
            span[first.track] -= first.span
            count[first.track] -= 1
        }
    }
}

/// The two kinds of media, which a buffer handles separately: only video refers to earlier packets.
enum Track {
    case video
    case audio
}

struct PerTrack<Value> {
    var video: Value
    var audio: Value

    subscript(track: Track) -> Value {
        get { track == .video ? video : audio }
        _modify {
            switch track {
            case .video: yield &video
            case .audio: yield &audio
            }
        }
    }
}

extension PerTrack: Sendable where Value: Sendable {}

extension EncodedPacket {
    var track: Track { isVideo ? .video : .audio }
    var isKeyframe: Bool { kind == .video(isKeyframe: true) }
}
