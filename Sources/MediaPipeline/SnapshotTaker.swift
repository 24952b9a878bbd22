import Bitstream
import Controls
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import Synchronization

/// Makes JPEG files of a stream's frames beside the encoders. The video thread gives a frame where one is wanted, and goes on;
/// everything else is done on the thread `snapshot`, which there is only while it has something to do.
public final class SnapshotTaker: Sendable {
    /// More wait only by mistake.
    private static let requestLimit = 8

    private struct State {
        var waiting: [SnapshotRequest] = []
        /// Of those that wait for the light.
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

    /// Any thread. One of the next frames is the snapshot, the same for all who wait for it.
    public func take(_ request: SnapshotRequest) {
        let isTaken = state.withLock { state in
            guard state.waiting.count < Self.requestLimit else { return false }
            state.waiting.append(request)
            if request.awaitsExposure { state.settling = ExposureSettling(from: MonotonicClock.now()) }
            return true
        }
        if !isTaken { answer(.failed(request, reason: "\(Self.requestLimit) others wait for one already")) }
    }

    /// On the video thread, with each frame that the source gives. Does not wait, and keeps the frame until it was copied.
    func offer(_ frame: CapturedFrame, from source: any VideoSource) {
        let requests = takeRequests(for: frame, of: source)
        guard !requests.isEmpty else { return }
        let snapshot = SnapshotFile(of: frame, from: source)
        do throws(SystemCallError) {
            _ = try NamedThread("snapshot", mayBlock: true) { [self] in
                // A frame of the stream is worth more.
                NamedThread.lowerPriority()
                for result in snapshot.files(for: requests) { answer(result) }
                done()
            }
        } catch {
            for request in requests { answer(.failed(request, reason: "\(error)")) }
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

    /// No more frames come: those who wait learn it. What is being written has a moment to get there.
    public func finish(reason: String, within timeout: Duration) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { answer(.failed(request, reason: reason)) }
        let deadline = MonotonicClock.now() + timeout
        while state.withLock({ $0.isBusy }), MonotonicClock.now() < deadline {
            var entries = [PollEntry(idle.fileDescriptor)]
            guard (try? poll(&entries, until: deadline)) != nil else { return }
            idle.drain()
        }
    }
}

/// A frame that is to become a file, and what is known of it.
final class SnapshotFile: Sendable {
    /// Until its samples were copied.
    private let frame: Mutex<CapturedFrame?>
    private let layout: FrameLayout
    private let colors: VideoColors?
    /// As its driver names it.
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
        files(for: [request]).first ?? .failed(request, reason: "nothing was made")
    }

    /// To be called once, on a thread of its own: it goes through the frame several times, and may write files.
    /// - Returns: an answer for each request.
    func files(for requests: [SnapshotRequest]) -> [SnapshotAnswer] {
        let bytes = takeBytes()
        var texts = EXIF(size: layout.size)
        texts.model = camera
        texts.exposureTime = report?.exposureTime
        texts.gain = report?.gain
        texts.software = "Tallycam \(version)"
        let time = WallClock.isPlausible ? WallClock.calendarTime() : nil
        return requests.map { request in
            texts.time = request.isClockSet ? time : nil
            return file(for: request, of: bytes, texts)
        }
    }

    /// The camera has its buffer back before the long part of the work.
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
            return .failed(request, reason: "\(error)")
        }
    }
}

extension ExposureSettling {
    /// - Returns: whether this frame shows the light as it is to be seen.
    mutating func frameTaken(_ frame: CapturedFrame, by source: any VideoSource) -> Bool {
        let report = source.controls?.cameraReport
        return frameTaken(at: frame.captureTime, exposureTime: report?.exposureTime, gain: report?.gain)
    }
}
