import DequeModule
import Media

/// The packets that were handed out last, so that a number of bytes still on the way can be read as time.
struct ByteLedger: Sendable {
    private struct Entry {
        let byteCount: Int
        let track: Track
        let span: Duration
    }

    private var entries: Deque<Entry> = []
    private(set) var byteCount = 0
    /// The time that each track's packets in the ledger take.
    private(set) var span = PerTrack(video: Duration.zero, audio: .zero)

    /// The packets of each track in the ledger, headers too.
    private(set) var count = PerTrack(video: 0, audio: 0)

    mutating func append(byteCount: Int, track: Track, span: Duration) {
        entries.append(Entry(byteCount: byteCount, track: track, span: span))
        self.byteCount += byteCount
        self.span[track] += span
        count[track] += 1
    }

    /// Forgets what is not among the last `remaining` bytes. A packet that is partly among them stays whole.
    mutating func trim(to remaining: Int) {
        while let first = entries.first, byteCount - first.byteCount >= max(0, remaining) {
            entries.removeFirst()
            byteCount -= first.byteCount
            span[first.track] -= first.span
            count[first.track] -= 1
        }
    }
}

/// The two kinds of media that a buffer holds apart, as only one of them refers to earlier packets.
enum Track {
    case video
    case audio
}

/// One value for each track.
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
