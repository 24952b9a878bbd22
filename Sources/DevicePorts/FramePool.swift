import Synchronization

/// A frame in ordinary memory. One of a pool is free when nobody but the pool holds it. Any number read it at the same time: an encoder
/// does not wait for a screen.
public final class PooledFrame: FrameMemory, @unchecked Sendable {
    /// Written with `readers` locked, and read while that counts somebody.
    private let bytes: UnsafeMutableRawBufferPointer
    /// How many read it now. Locked for as long as it takes to write the frame, and for a moment where somebody starts or ends to
    /// read it.
    private let readers = Mutex(0)
    private let isModified = Atomic(false)

    public init(_ initial: [UInt8]) {
        bytes = .allocate(byteCount: initial.count, alignment: 64)
        bytes.copyBytes(from: initial)
    }

    deinit { bytes.deallocate() }

    /// Not while somebody reads it.
    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        readers.withLock { count in
            guard count == 0 else { return false }
            isModified.store(true, ordering: .relaxed)
            body(bytes)
            return true
        }
    }

    /// For a source that draws over what it drew before: whether somebody else has changed that since it was asked last.
    public func takeModification() -> Bool { isModified.exchange(false, ordering: .relaxed) }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        readers.withLock { $0 += 1 }
        defer { readers.withLock { $0 -= 1 } }
        return try body(UnsafeRawBufferPointer(bytes))
    }

    /// For the source, before it leases the frame: nobody else has it then.
    public func withMutableBytes<Value: Sendable>(_ body: (UnsafeMutableRawBufferPointer) -> Value) -> Value {
        readers.withLock { _ in body(bytes) }
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
