import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A camera as a source that never ends: what `CaptureContinuity` decides is done here. Used by the video thread.
public final class SteadyCamera: VideoSource {
    public let layout: FrameLayout
    public let memoryKind: FrameMemoryKind
    public let frameRate: FrameRate
    public let endingNote: String? = nil
    private let name: String
    private let open: () throws -> any Camera
    private let stop: EventFD
    private let notify: @Sendable (SourceNotice) -> Void
    private var camera: (any Camera)?
    private var continuity: CaptureContinuity
    /// The newest picture, kept from the driver until the next one is there.
    private var lastPicture: KeptPicture?
    /// Of cameras that were closed.
    private var past = VideoSourceStatistics()
    private var repeatedFrames = 0
    private var stale = StaleFrames()
    private var staleFrames = 0
    private var interruptions = 0

    /// - Throws: what `open` throws: a camera that is not there at the begin is a wrong command line.
    public init(
        stop: EventFD, notify: @escaping @Sendable (SourceNotice) -> Void, open: @escaping () throws -> any Camera
    ) throws {
        let camera = try open()
        self.camera = camera
        self.open = open
        self.stop = stop
        self.notify = notify
        name = camera.name
        layout = camera.layout
        memoryKind = camera.memoryKind
        frameRate = camera.frameRate
        continuity = CaptureContinuity(frameRate: camera.frameRate, now: MonotonicClock.now())
    }

    public var statistics: VideoSourceStatistics {
        var sum = past
        if let camera { sum.add(camera.statistics) }
        sum.repeatedFrames = repeatedFrames
        // Given by the camera, and lost here.
        sum.capturedFrames -= staleFrames
        sum.droppedFrames += staleFrames
        sum.interruptions = interruptions
        return sum
    }

    public func nextFrame() throws -> CapturedFrame? {
        while true {
            var picture: KeptPicture?
            switch try waitForPicture() {
            case .stopped: return nil
            case .captured(let frame) where stale.isStale(capturedAt: frame.captureTime, now: MonotonicClock.now()):
                staleFrames += 1
                // Late, but the camera is not silent.
                perform(continuity.pictureArrived(now: MonotonicClock.now()))
            case .captured(let frame):
                let kept = KeptPicture(frame)
                lastPicture = kept
                perform(continuity.pictureArrived(now: MonotonicClock.now()))
                return frame
            case .none: picture = perform(continuity.timeReached(now: MonotonicClock.now()))
            }
            if let picture { return picture.frame(at: picture.repetitionTime) }
        }
    }

    private func waitForPicture() throws -> CameraFrame {
        guard let camera else {
            var entries = [PollEntry(stop.fileDescriptor)]
            return try poll(&entries, until: continuity.deadline) > 0 ? .stopped : .none
        }
        do {
            return try camera.nextFrame(until: continuity.deadline)
        } catch {
            perform(continuity.cameraFailed("\(error)", now: MonotonicClock.now()))
            return .none
        }
    }

    /// - Returns: the picture that is to be given again.
    @discardableResult
    private func perform(_ actions: [CaptureContinuity.Action]) -> KeptPicture? {
        var repeated: KeptPicture?
        for action in actions {
            switch action {
            case .repeatPicture(let time):
                guard lastPicture != nil else { break }
                repeatedFrames += 1
                repeated = lastPicture
                repeated?.repetitionTime = time
            case .closeCamera: close()
            case .openCamera: reopen()
            case .reportInterruption(let reason):
                interruptions += 1
                notify(.interrupted(.video, source: name, reason: reason))
            case .reportReturn(let gap): notify(.returned(.video, source: name, after: gap))
            }
        }
        return repeated
    }

    /// The frame that goes on is kept without the camera: as long as a buffer of that is on lease, its device node is
    /// held, too, and the camera would return under another name.
    private func close() {
        lastPicture = lastPicture.flatMap { $0.detached() }
        if let camera { past.add(camera.statistics) }
        camera = nil
    }

    private func reopen() {
        do {
            camera = try open()
            stale = StaleFrames()
            continuity.cameraOpened(now: MonotonicClock.now())
        } catch {
            continuity.openingFailed(now: MonotonicClock.now())
        }
    }
}

/// A frame that is given, and perhaps given again, while it is kept.
private struct KeptPicture {
    let frame: CapturedFrame
    var repetitionTime: MediaTimestamp

    init(_ frame: CapturedFrame) {
        self.frame = frame
        repetitionTime = frame.captureTime
    }

    func frame(at time: MediaTimestamp) -> CapturedFrame {
        CapturedFrame(layout: frame.layout, captureTime: time, memory: frame.memory)
    }

    /// - Returns: the same frame without the camera; `nil` when its memory cannot be read.
    func detached() -> KeptPicture? {
        if let memory = frame.memory.detached() {
            return KeptPicture(CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory))
        }
        let bytes = frame.withBytes { Array($0) }
        guard bytes.count >= frame.layout.byteCount else { return nil }
        return KeptPicture(
            CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: CopiedPicture(bytes)))
    }
}

/// A picture in memory of its own.
final class CopiedPicture: FrameMemory {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value { try bytes.withBytes(body) }
}

extension VideoSourceStatistics {
    /// Adds what a camera counts itself.
    fileprivate mutating func add(_ other: VideoSourceStatistics) {
        capturedFrames += other.capturedFrames
        droppedFrames += other.droppedFrames
        decodedFrames += other.decodedFrames
        passes += other.passes
        mappedFrames += other.mappedFrames
    }
}
