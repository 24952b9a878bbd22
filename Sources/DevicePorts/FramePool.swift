import Synchronization

/// A frame in ordinary memory. A pool's frame is free when only the pool holds it. Any number of readers can use it at
/// the same time, so that an encoder does not wait for a screen. A reader keeps its version while the frame is changed;
/// that costs a copy and only happens by mistake.
public final class PooledFrame: FrameMemory {
    /// Locked while the frame is changed, and briefly when a reader takes it.
    private let samples: Mutex<[UInt8]>
    private let isModified = Atomic(false)

    public init(_ bytes: [UInt8]) { samples = Mutex(bytes) }

    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        isModified.store(true, ordering: .relaxed)
        withMutableBytes(body)
        return true
    }

    /// For a source that redraws parts of its frames: whether the samples have been changed elsewhere since the last
    /// call.
    public func takeModification() -> Bool { isModified.exchange(false, ordering: .relaxed) }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let samples = samples.withLock { $0 }
        // Array does not pass typed errors through.
        return try samples.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }

    /// For the source, before it leases the frame.
    public func withMutableBytes<Value: Sendable>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value {
        samples.withLock { samples in samples.withUnsafeMutableBytes { body($0) } }
    }
}

/// Reusable frame memory: no allocation once there are as many frames as are leased at the same time.
public struct FramePool {
    private let initial: [UInt8]
    private var frames: [PooledFrame] = []

    public init(byteCount: Int) { self.init(initial: [UInt8](repeating: 0, count: byteCount)) }

    /// - Parameter initial: the initial contents of every frame.
    public init(initial: [UInt8]) { self.initial = initial }

    public mutating func take() -> PooledFrame {
        for index in frames.indices where isKnownUniquelyReferenced(&frames[index]) { return frames[index] }
        let frame = PooledFrame(initial)
        frames.append(frame)
        return frame
    }
}
