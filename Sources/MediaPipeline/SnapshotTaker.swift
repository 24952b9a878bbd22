import Bitstream
import Controls
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import Synchronization

/// Makes JPEG files of a stream's frames beside the encoders. The video thread only hands over a frame when one is requested.
/// Everything else happens on the thread `snapshot`, which exists only while there is work.
public final class SnapshotTaker: Sendable {
    /// More requests wait only by mistake.
    private static let requestLimit = 8

    private struct State {
        var waiting: [SnapshotRequest] = []
        /// For requests that wait for exposure to settle.
        var settling: ExposureSettling?
        var isBusy = false
    }

    private let state = Mutex(State())
    private let idle: EventFD
    private let answer: @Sendable (SnapshotAnswer) -> Void

    /// - Parameter answer: called once for each request, on any thread.
    public init(answer: @escaping @Sendable (SnapshotAnswer) -> Void) throws(SystemCallError) {
        idle = try EventFD()
        self.answer = answer
    }

    /// Any thread. One of the next frames becomes the snapshot, the same for all waiting requests.
    public func take(_ request: SnapshotRequest) {
        let isTaken = state.withLock { state in
            guard state.waiting.count < Self.requestLimit else { return false }
            state.waiting.append(request)
            if request.awaitsExposure { state.settling = ExposureSettling(from: MonotonicClock.now()) }
            return true
        }
        if !isTaken { answer(.failed(request, .othersWaiting(limit: Self.requestLimit))) }
    }

    /// Called on the video thread for each source frame. Does not block, and holds the frame until it was copied.
    func offer(_ frame: CapturedFrame, from source: any VideoSource) {
        let requests = takeRequests(for: frame, of: source)
        guard !requests.isEmpty else { return }
        let snapshot = SnapshotFile(of: frame, from: source)
        do throws(SystemCallError) {
            _ = try NamedThread("snapshot", mayBlock: true) { [self] in
                // The stream's frames have priority.
                NamedThread.lowerPriority()
                for result in snapshot.files(for: requests) { answer(result) }
                done()
            }
        } catch {
            for request in requests { answer(.failed(request, .system(reason: "\(error)"))) }
            done()
        }
    }

    private func takeRequests(for frame: CapturedFrame, of source: any VideoSource) -> [SnapshotRequest] {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.isBusy else { return [] }
            if var settling = state.settling {
                let isSettled = settling.frameTaken(frame, by: source)
                state.settling = isSettled ? nil : settling
                guard isSettled else { return [] }
            }
            defer { state.waiting = [] }
            state.isBusy = true
            return state.waiting
        }
    }

    private func done() {
        state.withLock { $0.isBusy = false }
        idle.signal()
    }

    /// No more frames will come: answers the waiting requests, and gives a snapshot in progress a moment to finish.
    public func finish(because failure: SnapshotFailure, within timeout: Duration) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { answer(.failed(request, failure)) }
        let deadline = MonotonicClock.now() + timeout
        while state.withLock({ $0.isBusy }), MonotonicClock.now() < deadline {
            var entries = [PollEntry(idle.fileDescriptor)]
            guard (try? poll(&entries, until: deadline)) != nil else { return }
            idle.drain()
        }
    }
}

/// A frame that becomes a file, with its metadata.
final class SnapshotFile: Sendable {
    /// Held until its samples are copied.
    private let frame: Mutex<CapturedFrame?>
    private let layout: FrameLayout
    private let colors: VideoColors?
    /// According to its driver.
    private let camera: String?
    private let report: CameraReport?

    init(of frame: CapturedFrame, from source: any VideoSource) {
        self.frame = Mutex(frame)
        layout = frame.layout
        colors = source.colors
        camera = source.cameraModel
        report = source.controls?.cameraReport
    }

    func file(for request: SnapshotRequest) -> SnapshotAnswer {
        files(for: [request]).first ?? .failed(request, .file(reason: "nothing was made"))
    }

    /// Call it once, on a separate thread: it reads the frame several times and may write files.
    /// - Returns: an answer for each request.
    func files(for requests: [SnapshotRequest]) -> [SnapshotAnswer] {
        let bytes = takeBytes()
        var texts = EXIF(size: layout.size)
        texts.model = camera
        texts.exposureTime = report?.exposureTime
        texts.gain = report?.gain
        texts.software = "Tallycam \(Program.version)"
        let time = WallClock.isPlausible ? WallClock.calendarTime() : nil
        return requests.map { request in
            texts.time = request.isClockSet ? time : nil
            return file(for: request, of: bytes, texts)
        }
    }

    /// Returns the buffer to the camera before the long part of the work.
    private func takeBytes() -> [UInt8] {
        let lease = frame.withLock { $0.take() }
        return lease?.withBytes { Array($0) } ?? []
    }

    private func file(for request: SnapshotRequest, of bytes: [UInt8], _ texts: EXIF) -> SnapshotAnswer {
        do {
            let jpeg = try bytes.withBytes { bytes throws(JPEGError) in
                try JPEGEncoder(quality: request.quality).encode(
                    bytes, layout, colors: colors, segment: texts.segment)
            }
            if let path = request.path { try replaceFile(path, with: jpeg, sparesOthers: true) }
            let kept = request.path == nil ? jpeg : []
            return .taken(request, Snapshot(size: layout.size, bytes: kept, byteCount: jpeg.count))
        } catch {
            return .failed(request, .file(reason: "\(error)"))
        }
    }
}

extension ExposureSettling {
    /// - Returns: whether the exposure has settled in this frame.
    mutating func frameTaken(_ frame: CapturedFrame, by source: any VideoSource) -> Bool {
        let report = source.controls?.cameraReport
        return frameTaken(at: frame.captureTime, exposureTime: report?.exposureTime, gain: report?.gain)
    }
}
