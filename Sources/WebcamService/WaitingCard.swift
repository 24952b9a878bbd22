import DevicePorts
import Filters
import FrameFiltering
import Media
import SoftwareEncoding

/// What a computer is shown while there are no frames for it: programs that get nothing for seconds take the camera for broken.
struct WaitingCard {
    enum Words: String {
        /// Somebody at the camera has to agree.
        case press = "Press the button of the camera"
        /// It opens, or is away.
        case camera = "Waiting for the camera"
    }

    private static let interval = Duration.milliseconds(200)
    /// Most cameras open sooner: nobody has to read of it.
    private static let openingTime = Duration.seconds(1)

    private let words: Words
    private let size: FrameSize
    /// When it is to be sent the next time.
    private(set) var time: MediaTimestamp
    private var drawn: CapturedFrame?

    init(_ words: Words, of size: FrameSize, now: MediaTimestamp) {
        self.words = words
        self.size = size
        time = words == .camera ? now + Self.openingTime : now
    }

    /// - Returns: `nil` before its time.
    mutating func frame(now: MediaTimestamp) throws -> CapturedFrame? {
        guard time <= now else { return nil }
        time = now + Self.interval
        let frame = try drawn ?? Self.draw(words, size)
        drawn = frame
        return frame
    }

    /// Black, with the words.
    private static func draw(_ words: Words, _ size: FrameSize) throws -> CapturedFrame {
        let layout = FrameLayout(packed: .i420, size: size)
        let memory = PooledFrame(layout.black)
        let filter = "text,text=\(words.rawValue),position=center,size=0.07"
        let pass = FilterPass(try LoadedFilters(try FilterChain(parsing: [filter])))
        var failure: (any Error)?
        memory.withMutableBytes { bytes in
            do { try pass.apply(to: bytes, layout, nil, TextFields()) } catch { failure = error }
        }
        if let failure { throw failure }
        return CapturedFrame(layout: layout, captureTime: .zero, memory: memory)
    }
}
