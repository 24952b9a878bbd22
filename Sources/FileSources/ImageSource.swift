import DevicePorts
import LinuxIO
import Media

/// A still image as a camera: decoded when it is opened, and repeated at the frame rate. Used from one thread, which
/// may wait for the disk.
public final class ImageSource: VideoSource, Camera {
    public let name: String
    public let model = ""
    public let layout: FrameLayout
    public let memoryKind = FrameMemoryKind.pooled
    public let frameRate: FrameRate
    public let colors: VideoColors?
    public let flips = FrameFlips()
    /// Frames are upright: `ImageFile` applies the EXIF orientation.
    public let ownRotation = FrameRotation()
    public let endingNote: String? = nil
    public var cameraModel: String? { nil }
    public var origin: String { "the image \(name)" }
    public private(set) var statistics = VideoSourceStatistics()
    private let bytes: [UInt8]
    private var pool: FramePool
    private let stop: EventFD
    private var start: MediaTimestamp?
    private var index = 0

    /// Takes as long as the disk and the decoder do, so use a thread that may wait.
    /// - Parameters:
    ///   - path: of a PNG or JPEG file.
    ///   - size: of the frames; even sides.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(_ path: String, size: FrameSize, frameRate: FrameRate, stop: EventFD) throws(FileSourceError) {
        name = path
        self.frameRate = frameRate
        self.stop = stop
        layout = FrameLayout(packed: .i420, size: size)
        colors = VideoColors.usual(for: size)
        bytes = try ImageFile(path).frame(of: size)
        pool = FramePool(initial: bytes)
    }

    public func nextFrame() throws -> CapturedFrame? {
        guard case .captured(let frame) = try frame(until: nil) else { return nil }
        return frame
    }

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        try frame(until: deadline)
    }

    private func frame(until deadline: MediaTimestamp?) throws(FileSourceError) -> CameraFrame {
        let now = MonotonicClock.now()
        let start = start ?? now
        self.start = start
        // Frames that nobody took in time are skipped.
        while start + frameRate.offset(ofFrame: index + 1) < now { index += 1 }
        let due = start + frameRate.offset(ofFrame: index)
        switch try FileWait(stop).wait(until: due, orUntil: deadline) {
        case .stopped: return .stopped
        case .early: return .none
        case .reached: break
        }
        index += 1
        statistics.capturedFrames += 1
        let frame = pool.take()
        // A filter may have modified the frame in place.
        if frame.takeModification() { frame.withMutableBytes { $0.copyBytes(from: bytes) } }
        return .captured(CapturedFrame(layout: layout, captureTime: due, memory: frame))
    }
}

/// Waits on the clock until a time or until a stop.
struct FileWait {
    enum Outcome {
        case reached
        /// The other time came first.
        case early
        case stopped
    }

    private let stop: EventFD

    init(_ stop: EventFD) { self.stop = stop }

    func wait(until time: MediaTimestamp, orUntil deadline: MediaTimestamp?) throws(FileSourceError) -> Outcome {
        let first = min(time, deadline ?? time)
        var entries = [PollEntry(stop.fileDescriptor)]
        do throws(SystemCallError) {
            guard try poll(&entries, until: first) == 0 else { return .stopped }
        } catch {
            throw .systemFailed(error)
        }
        return first < time ? .early : .reached
    }
}
