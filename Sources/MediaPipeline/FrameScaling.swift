import DevicePorts
import Media
import SoftwareEncoding

/// Frames of another size than the stream's, scaled into memory that is used again and again.
struct FrameScaling {
    private let size: FrameSize
    private var scaler: FrameScaler?
    private var pool = FramePool(byteCount: 0)
    private(set) var passCount = 0

    init(to size: FrameSize) { self.size = size }

    mutating func scale(_ frame: CapturedFrame) throws -> CapturedFrame {
        let scaler = try scaler(for: frame.layout)
        let target = pool.take()
        let result = frame.withBytes { bytes in
            target.withMutableBytes { target in
                Result { () throws(VideoEncodingError) in try scaler.scale(bytes, into: target) }
            }
        }
        try result.get()
        passCount += scaler.passCount
        return CapturedFrame(layout: scaler.target, captureTime: frame.captureTime, memory: target)
    }

    private mutating func scaler(for layout: FrameLayout) throws -> FrameScaler {
        if let scaler, scaler.source == layout { return scaler }
        let scaler = try FrameScaler(from: layout, to: size)
        self.scaler = scaler
        pool = FramePool(initial: scaler.target.black)
        return scaler
    }
}
