import DevicePorts
import Media

/// A frame that is kept to be repeated.
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

    /// - Parameter kind: how the source's frames are stored. An encoder that reads device memory would copy all later frames
    ///   because of one frame in other memory.
    /// - Returns: the same frame, independent of the camera; `nil` if its memory cannot be kept that way.
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
