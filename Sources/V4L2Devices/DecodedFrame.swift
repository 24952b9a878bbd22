import DevicePorts
import Synchronization

/// A decoded picture in ordinary memory.
final class DecodedFrame: FrameMemory {
    private let samples: Mutex<[UInt8]>

    init(byteCount: Int) { samples = Mutex([UInt8](repeating: 0, count: byteCount)) }

    func fill(_ body: (UnsafeMutableRawBufferPointer) -> Bool) -> Bool {
        samples.withLock { samples in samples.withUnsafeMutableBytes { body($0) } }
    }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // Neither Mutex nor Array hands a typed result through; a buffer of one does.
        var results: [Result<Value, Failure>] = []
        samples.withLock { samples in
            samples.withUnsafeBytes { bytes in
                results.append(Result(catching: { () throws(Failure) in try body(bytes) }))
            }
        }
        return try results[0].get()
    }
}

/// Decoded pictures' memory, used again when nobody holds it any more.
struct DecodedFramePool {
    private var frames: [DecodedFrame] = []

    mutating func take(byteCount: Int) -> DecodedFrame {
        for index in frames.indices where isKnownUniquelyReferenced(&frames[index]) { return frames[index] }
        let frame = DecodedFrame(byteCount: byteCount)
        frames.append(frame)
        return frame
    }
}
