import Synchronization

/// A frame in ordinary memory. One of a pool is free when nobody but the pool holds it. Any number read it at the same time: an encoder
/// does not wait for a screen. Who reads it while it is changed has it as it was; that takes a copy, and happens by mistake only.
public final class PooledFrame: FrameMemory {
    /// Locked while it is changed, and for the moment in which a reader takes it.
    private let samples: Mutex<[UInt8]>
    private let isModified = Atomic(false)

    public init(_ bytes: [UInt8]) { samples = Mutex(bytes) }

    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        isModified.store(true, ordering: .relaxed)
        withMutableBytes(body)
        return true
    }

    /// For a source that draws over what it drew before: whether somebody else has changed that since it was asked last.
    public func takeModification() -> Bool { isModified.exchange(false, ordering: .relaxed) }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let samples = samples.withLock { $0 }
        // Array does not hand a typed error through.
        return try samples.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }

    /// For the source, before it leases the frame.
    public func withMutableBytes<Value: Sendable>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value {
        samples.withLock { samples in samples.withUnsafeMutableBytes { body($0) } }
    }
}

/// Frames' memory, used again and again: no allocation once as many exist as are leased at one time.
public struct FramePool {
    private let initial: [UInt8]
    private var frames: [PooledFrame] = []

    public init(byteCount: Int) { self.init(initial: [UInt8](repeating: 0, count: byteCount)) }

    /// - Parameter initial: what every frame's memory holds at first.
    public init(initial: [UInt8]) { self.initial = initial }

    public mutating func take() -> PooledFrame {
        for index in frames.indices where isKnownUniquelyReferenced(&frames[index]) { return frames[index] }
        let frame = PooledFrame(initial)
        frames.append(frame)
        return frame
    }
}
