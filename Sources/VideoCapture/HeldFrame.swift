import DevicePorts
import Media

/// A frame that is given, and perhaps given again, while it is kept.
struct HeldFrame {
    let frame: CapturedFrame
    var repetitionTime: MediaTimestamp

    init(_ frame: CapturedFrame) {
        self.frame = frame
        repetitionTime = frame.captureTime
    }

    func frame(at time: MediaTimestamp) -> CapturedFrame {
        CapturedFrame(layout: frame.layout, captureTime: time, memory: frame.memory, repeats: frame.captureTime)
    }

    /// - Parameter kind: whose memory the source's frames are in. An encoder that reads a device's memory would copy every
    ///   later frame for the sake of one that is in none.
    /// - Returns: the same frame without the camera; `nil` when its memory cannot be kept so.
    func detached(as kind: FrameMemoryKind) -> HeldFrame? {
        if let memory = frame.memory.detached() {
            return HeldFrame(CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory))
        }
        guard kind == .pooled else { return nil }
        let bytes = frame.withBytes { Array($0) }
        guard bytes.count >= frame.layout.byteCount else { return nil }
        return HeldFrame(
            CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: PooledFrame(bytes)))
    }
}
