import Controls
import DevicePorts
import LinuxIO
import Media

/// A camera that is read on another thread, as seen by the receiver of its frames.
final class ThreadedCamera: Camera {
    let thread: CameraThread
    private let properties: CameraThread.Properties
    private let stop: EventFD
    private var isOn = false
    private(set) var wishedControls = WishedControls()

    /// - Parameters:
    ///   - thread: the thread of an open camera; it is closed together with this object.
    ///   - stop: ends the wait when signaled. It is not drained.
    init(_ thread: CameraThread, _ properties: CameraThread.Properties, stop: EventFD) {
        self.thread = thread
        self.properties = properties
        self.stop = stop
    }

    deinit { thread.close() }

    var name: String { properties.name }
    var model: String { properties.model }
    var origin: String { properties.origin }
    var layout: FrameLayout { layouts.full }
    var memoryKind: FrameMemoryKind { properties.memoryKind }
    var frameRate: FrameRate { properties.frameRate }
    var colors: VideoColors? { properties.colors }
    var flips: FrameFlips { properties.flips }
    var ownRotation: FrameRotation { properties.ownRotation }
    var endingNote: String? { thread.state.withLock { $0.endingNote } }
    var statistics: VideoSourceStatistics { thread.statistics }

    private enum Waited {
        case stop, camera
    }

    func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        if !isOn { thread.turnOn() }
        isOn = true
        while true {
            thread.changed.drain()
            let taken = try thread.takeFrame()
            guard case .none = taken else { return taken }
            var waits: PollSet<Waited> = [.stop: stop.fileDescriptor, .camera: thread.changed.fileDescriptor]
            guard try waits.wait(until: deadline) else { return .none }
            if waits.isReady(.stop) { return .stopped }
        }
    }
}

extension ThreadedCamera: FrameSizeSelection {
    var layouts: SourceLayouts { properties.layouts }
    func selectSize(_ size: FrameSize) { thread.order { $0.size = size } }
}

extension ThreadedCamera: FrameRateSelection {
    func selectFrameRate(_ rate: FrameRate) { thread.order { $0.rate = rate } }
}

extension ThreadedCamera: ControllableSource {
    var controlOffers: [ControlOffer] { properties.controlOffers }

    /// A refusal is reported a moment later.
    func apply(_ changes: [ControlChange]) {
        thread.order { $0.controls.append(changes) }
        wishedControls.take(changes)
    }

    /// Slightly outdated; each access requests a newer report.
    var cameraReport: CameraReport {
        thread.order { $0.isReportWanted = true }
        return thread.state.withLock { $0.report }
    }

    /// Requested with each access, and one frame old.
    var lux: Double? { properties.reportsLight ? cameraReport.lux : nil }

    func takeRefusal() -> ControlError? {
        thread.state.withLock { state in
            defer { state.refusal = nil }
            return state.refusal
        }
    }
}
