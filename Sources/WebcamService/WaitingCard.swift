import DevicePorts
import Filters
import FrameFiltering
import Media
import SoftwareEncoding

/// The still image for a computer while it gets no frames. After a few seconds without any, programs assume a broken camera.
struct WaitingCard {
    enum Words: String {
        /// Someone at the camera must agree.
        case press = "Press the button of the camera"
        /// The camera is opening, or missing.
        case camera = "Waiting for the camera"
    }

    private static let interval = Duration.milliseconds(200)
    /// Most cameras open sooner, and then no card needs to be shown.
    private static let openingTime = Duration.seconds(1)

    private let words: Words
    private let size: FrameSize
    /// When to send it next.
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

    /// Black, with the text.
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
