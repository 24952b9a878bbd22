import Bitstream
import DevicePorts
import LinuxIO
import Media

/// The video of an MP4 file, decoded and played at its own times, once or in a loop. Used from one thread, which may wait for
/// the disk.
public final class MovieSource: VideoSource, Camera {
    /// A frame later than this is dropped, so that video stays in sync with audio.
    private static let largestDelay = Duration.milliseconds(200)
    /// Even if the decoder is too slow, a frame is shown at least this often.
    private static let longestPause = Duration.milliseconds(500)
    /// Beyond this delay, decoding skips to the next keyframe.
    private static let hopelessDelay = Duration.seconds(1)

    public let name: String
    public let model = ""
    public let layout: FrameLayout
    public let memoryKind = FrameMemoryKind.pooled
    public let frameRate: FrameRate
    public let colors: VideoColors?
    public let flips = FrameFlips()
    public var cameraModel: String? { nil }
    public var origin: String { "the movie \(name)" }
    public private(set) var endingNote: String?
    public private(set) var statistics = VideoSourceStatistics()
    private let duration: Duration
    private let loops: Bool
    private let clock: MovieClock
    private let stop: EventFD
    private var reader: MovieFrames
    /// Start of the present round, relative to the movie's start.
    private var round = Duration.zero
    private var start: MediaTimestamp?
    /// The last delivered frame, with its own time (`captured`) and the time it was delivered for.
    private var last: (frame: PooledFrame, captured: MediaTimestamp, time: MediaTimestamp)?

    /// - Parameters:
    ///   - clock: also followed by the movie's audio.
    ///   - loops: whether the movie restarts at its end.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(_ path: String, clock: MovieClock, loops: Bool, stop: EventFD) throws(FileSourceError) {
        name = path
        self.clock = clock
        self.loops = loops
        self.stop = stop
        let file = try MovieFile(path)
        reader = try MovieFrames(file)
        duration = file.movie.duration
        layout = reader.layout
        colors = reader.colors
        let rate = Int(reader.track.sampleRate.rounded())
        frameRate = FrameRate(framesPerSecond: min(max(rate, 1), 240))
    }

    /// The size of the upright frames, from the file's table of contents.
    public static func size(of path: String) throws(FileSourceError) -> FrameSize {
        let frames = try MovieFrames(MovieFile(path))
        return frames.track.rotation.rotated(frames.layout.size)
    }

    public var ownRotation: FrameRotation { reader.track.rotation }

    public func nextFrame() throws -> CapturedFrame? {
        guard case .captured(let frame) = try frame(until: nil) else { return nil }
        return frame
    }

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        try frame(until: deadline)
    }

    private func frame(until deadline: MediaTimestamp?) throws(FileSourceError) -> CameraFrame {
        while endingNote == nil {
            let result: CameraFrame?
            switch try reader.next() {
            case .frame(let next): result = try shown(next, until: deadline)
            case .ended: result = try shown(nil, until: deadline)
            // Many samples may yield no frame: damaged ones, or those before an edit.
            case .nothing: result = try interruption(before: MonotonicClock.now(), until: deadline)
            }
            if let result { return result }
        }
        return .stopped
    }

    /// - Parameter next: `nil` at the end.
    /// - Returns: `nil` if the frame is dropped, or the movie restarts.
    private func shown(
        _ next: MovieFrames.Frame?, until deadline: MediaTimestamp?
    ) throws(FileSourceError) -> CameraFrame? {
        let start = start ?? begin()
        let origin = start + round
        let due = origin + (next?.time ?? duration)
        if let last, due > MonotonicClock.now(), due - last.time > frameRate.frameDuration * 3 / 2 {
            return try repeated(last.time + frameRate.frameDuration, until: deadline)
        }
        if let interruption = try interruption(before: due, until: deadline) { return interruption }
        guard let next else {
            try end()
            return nil
        }
        reader.takeNext()
        guard isToBeLeftOut(due) else { return given(next.frame, at: due) }
        statistics.droppedFrames += 1
        skipLate(due, origin)
        return nil
    }

    /// If the movie was opened again, it continues at the present time.
    private func begin() -> MediaTimestamp {
        let now = MonotonicClock.now()
        let agreed = clock.start(at: now)
        start = agreed
        if loops, now > agreed { round = duration * Int((now - agreed).wholeNanoseconds / duration.wholeNanoseconds) }
        return agreed
    }

    /// Waits until `time`.
    /// - Returns: the stop or the deadline if it comes first; `nil` at `time`.
    private func interruption(
        before time: MediaTimestamp, until deadline: MediaTimestamp?
    ) throws(FileSourceError) -> CameraFrame? {
        switch try FileWait(stop).wait(until: time, orUntil: deadline) {
        case .stopped: CameraFrame.stopped
        case .early: CameraFrame.none
        case .reached: nil
        }
    }

    private func given(_ frame: PooledFrame, at time: MediaTimestamp) -> CameraFrame {
        statistics.capturedFrames += 1
        statistics.decodedFrames += 1
        last = (frame, time, time)
        return .captured(CapturedFrame(layout: layout, captureTime: time, memory: frame))
    }

    private func repeated(_ time: MediaTimestamp, until deadline: MediaTimestamp?) throws(FileSourceError)
        -> CameraFrame
    {
        if let interruption = try interruption(before: time, until: deadline) { return interruption }
        guard let (frame, captured, _) = last else { return .none }
        last = (frame, captured, time)
        statistics.repeatedFrames += 1
        return .captured(CapturedFrame(layout: layout, captureTime: time, memory: frame, repeats: captured))
    }

    private func isToBeLeftOut(_ due: MediaTimestamp) -> Bool {
        guard let last, MonotonicClock.now() - due > Self.largestDelay else { return false }
        return due - last.time < Self.longestPause
    }

    private func skipLate(_ due: MediaTimestamp, _ origin: MediaTimestamp) {
        let now = MonotonicClock.now()
        guard now - due > Self.hopelessDelay else { return }
        statistics.droppedFrames += (try? reader.skip(to: now - origin)) ?? 0
    }

    private func end() throws(FileSourceError) {
        guard last != nil else {
            throw .unsupportedVideo(path: name, reason: "none of its frames could be decoded")
        }
        guard loops else {
            endingNote = "\(name) ended after \(statistics.capturedFrames) frames"
            return
        }
        round += duration
        try reader.rewind()
    }
}
