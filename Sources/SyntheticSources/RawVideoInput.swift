import DevicePorts
import LinuxIO
import Media

/// Raw frames from a file, paced by its fps, or from a pipe, paced by its writer. The
/// arrival of a frame's first byte is its capture time then. While a pipe gives nothing, its last frame
/// is given again, at the source's rate.
public final class RawVideoInput: VideoSource {
    public let layout: FrameLayout
    public let frameRate: FrameRate
    /// RGB becomes this on its way into the encoder; what YUV is nobody has said.
    public var colors: VideoColors? { layout.format.isRGB ? .bt601 : nil }
    public private(set) var endingNote: String?
    private let input: RawInput
    private let pacing: Pacing
    private var pool: FramePool
    /// What is being read.
    private var unfinished: PooledFrame?
    /// The last frame of a pipe, and when it is due again.
    private var newest: (frame: PooledFrame, arrival: MediaTimestamp, repeatTime: MediaTimestamp)?
    private var schedule: Schedule?
    private var frameCount = 0
    private var repeatedFrameCount = 0
    private var hasEnded = false

    /// A pipe may be late by so much before its last frame is given again: writers do not come evenly.
    static let leastPatience = Duration.milliseconds(200)
    private var patience: Duration { max(Self.leastPatience, frameRate.frameDuration * 3 / 2) }

    public init(
        path: String, format: PixelFormat, size: FrameSize, frameRate: FrameRate, stop: EventFD
    ) throws(SourceError) {
        layout = FrameLayout(packed: format, size: size)
        self.frameRate = frameRate
        pacing = Pacing(stop: stop)
        pool = FramePool(byteCount: layout.byteCount)
        input = try RawInput(path: path, stop: stop)
        if let byteCount = input.byteCount, byteCount < layout.byteCount {
            throw .tooShort(path: input.path, byteCount: byteCount, needed: layout.byteCount)
        }
    }

    public var statistics: VideoSourceStatistics {
        var statistics = VideoSourceStatistics()
        statistics.capturedFrames = frameCount
        statistics.repeatedFrames = repeatedFrameCount
        return statistics
    }

    public var origin: String { "the raw video in \(input.path)" }

    public func nextFrame() throws -> CapturedFrame? {
        guard !hasEnded else { return nil }
        let frame = unfinished ?? pool.take()
        unfinished = frame
        var result = Result<RawInput.Read, SourceError>.success(.stopped)
        frame.withMutableBytes { bytes in
            result = Result(catching: { () throws(SourceError) in try input.read(into: bytes, until: newest?.repeatTime)
            })
        }
        switch try result.get() {
        case .stopped: return nil
        case .late: return newestAgain()
        case .ended(let byteCount, _):
            hasEnded = true
            guard frameCount > 0 else {
                throw SourceError.tooShort(path: input.path, byteCount: byteCount, needed: layout.byteCount)
            }
            endingNote =
                "\(input.path) ended after \(frameCount) frames"
                + (byteCount > 0 ? "; \(byteCount) of \(layout.byteCount) bytes of another one are left out" : "")
            return nil
        case .whole(let arrival):
            frameCount += 1
            unfinished = nil
            guard input.isRegularFile else {
                newest = (frame, arrival, MonotonicClock.now() + patience)
                return CapturedFrame(layout: layout, captureTime: arrival, memory: frame)
            }
            var schedule = schedule ?? Schedule(start: arrival, rate: frameRate)
            let due = schedule.due
            schedule.advance()
            self.schedule = schedule
            guard try pacing.wait(until: due) else { return nil }
            return CapturedFrame(layout: layout, captureTime: due, memory: frame)
        }
    }

    private func newestAgain() -> CapturedFrame? {
        guard let (frame, arrival, time) = newest else { return nil }
        repeatedFrameCount += 1
        newest?.repeatTime = time + frameRate.frameDuration
        return CapturedFrame(layout: layout, captureTime: time, memory: frame, repeats: arrival)
    }
}
