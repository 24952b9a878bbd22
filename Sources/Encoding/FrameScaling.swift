import DevicePorts
import Media
import SoftwareEncoding

/// Scales frames to the stream's size. A device does it if there is one and the frames are in device memory. Otherwise, and
/// after the device's first failure, the processor does it. Used by the video thread.
struct FrameScaling {
    private let size: FrameSize
    private let device: ScalingDevice?
    private var hardware: ThreadedScaler?
    private var software: SoftwareScaler?
    /// Processor passes over frames.
    private(set) var passCount = 0
    private var note: String?

    init(to size: FrameSize, by device: ScalingDevice? = nil) {
        self.size = size
        self.device = device
    }

    /// Opens the device, if it can scale such frames.
    /// - Parameters:
    ///   - layout, kind: layout and memory kind of the frames to come.
    /// - Returns: a function for the thread that opens the encoder. It waits for the device, and returns layout and memory kind
    ///   of scaled frames.
    mutating func start(for layout: FrameLayout, _ kind: FrameMemoryKind) -> @Sendable () -> (
        layout: FrameLayout, memory: FrameMemoryKind
    ) {
        if hardware == nil, let device, device.isUsable, suitsDevice(layout), kind == .dmabuf {
            hardware = try? ThreadedScaler(device, from: layout, to: size)
        }
        return { [hardware, size] in
            hardware?.waitUntilOpen() ?? (FrameLayout(packed: .i420, size: size), .pooled)
        }
    }

    /// A device fills its whole target, so the processor draws black bars.
    private func suitsDevice(_ layout: FrameLayout) -> Bool {
        layout.format.isPlanar && layout.size != size && !Letterbox(layout.size, into: size).hasBars
    }

    /// - Returns: `nil` if there is no memory for the frame now; it is dropped.
    mutating func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        if let hardware, frame.layout == hardware.source, frame.dmabuf != nil {
            do {
                return try hardware.scale(frame)
            } catch {
                note = "\(error); the processor scales the frames from here on"
                device?.failed()
                close()
            }
        }
        let scaler = try softwareScaler(for: frame.layout)
        let scaled = try scaler.scale(frame)
        passCount += scaler.passCount
        return scaled
    }

    private mutating func softwareScaler(for layout: FrameLayout) throws -> SoftwareScaler {
        if let software, software.source == layout { return software }
        let scaler = try SoftwareScaler(from: layout, to: size)
        software = scaler
        return scaler
    }

    /// News for people since the last call.
    mutating func takeNote() -> String? {
        defer { note = nil }
        return note
    }

    /// Releases the device for others. Frames that it returned stay valid.
    mutating func close() {
        hardware?.close()
        hardware = nil
    }
}
