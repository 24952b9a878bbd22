import DevicePorts
import LinuxIO
import Media

/// Raw frames from a file or pipe, paced by their rate. If a pipe's frame comes late, the arrival of its first byte is its
/// capture time. A pipe without data repeats its last frame at the source's rate.
public final class RawVideoInput: VideoSource {
    public let layout: FrameLayout
    public let frameRate: FrameRate
    /// Files and pipes carry no color information.
    public var colors: VideoColors? { layout.colors(reported: nil) }
    public private(set) var endingNote: String?
    private let input: RawInput
    private let pacing: Pacing
    private var pool: FramePool
    /// The frame being read.
    private var unfinished: PooledFrame?
    /// A pipe's last frame, and when to repeat it.
    private var newest: (frame: PooledFrame, time: MediaTimestamp, repeatTime: MediaTimestamp)?
    /// For a file.
    private var schedule: Schedule?
    private var pipeSchedule: PipeSchedule
    /// Whether the last delivered frame was a repetition.
    private var isRepeating = false
    private var frameCount = 0
    private var repeatedFrameCount = 0
    private var hasEnded = false

    /// How late a pipe may be before its last frame is repeated, since writers are uneven.
    static let leastPatience = Duration.milliseconds(200)
    private var patience: Duration { max(Self.leastPatience, frameRate.frameDuration * 3 / 2) }

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - isPaced: `false` delivers a pipe's frames as fast as they come.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(
        path: String, format: PixelFormat, size: FrameSize, frameRate: FrameRate, isPaced: Bool = true, stop: EventFD
    ) throws(SourceError) {
        pipeSchedule = PipeSchedule(isPaced: isPaced)
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
        let readTime = MonotonicClock.now()
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
            return input.isRegularFile ? try scheduled(frame, arrival) : try paced(frame, arrival, readTime)
        }
    }

    /// Waits until a file's frame is due.
    private func scheduled(_ frame: PooledFrame, _ arrival: MediaTimestamp) throws(SourceError) -> CapturedFrame? {
        var schedule = schedule ?? Schedule(start: arrival, rate: frameRate)
        let due = schedule.due
        schedule.advance()
        self.schedule = schedule
        guard try pacing.wait(until: due) else { return nil }
        return CapturedFrame(layout: layout, captureTime: due, memory: frame)
    }

    /// Waits until a pipe's frame is due.
    private func paced(
        _ frame: PooledFrame, _ arrival: MediaTimestamp, _ readTime: MediaTimestamp
    ) throws(SourceError) -> CapturedFrame? {
        // A frame that arrived partly before a pause follows the repeated frames.
        let arrival = isRepeating ? MonotonicClock.now() : arrival
        isRepeating = false
        let time = pipeSchedule.time(ofArrival: arrival, lasting: frameRate.frameDuration, readSince: readTime)
        guard try pacing.wait(until: time) else { return nil }
        newest = (frame, time, MonotonicClock.now() + patience)
        return CapturedFrame(layout: layout, captureTime: time, memory: frame)
    }

    private func newestAgain() -> CapturedFrame? {
        guard let (frame, captured, time) = newest else { return nil }
        repeatedFrameCount += 1
        isRepeating = true
        newest?.repeatTime = time + frameRate.frameDuration
        return CapturedFrame(layout: layout, captureTime: time, memory: frame, repeats: captured)
    }
}
