import DevicePorts
import Synchronization

/// A frame's memory, which can be taken back from an encoder that does not return it.
final class RevocableMemory: FrameMemory {
    private let memory: Mutex<(any FrameMemory)?>

    init(_ memory: any FrameMemory) { self.memory = Mutex(memory) }

    /// The memory is dropped outside of the lock.
    func revoke() { _ = memory.withLock { $0.take() } }

    var dmabuf: Int32? { memory.withLock { $0 }?.dmabuf }

    func detached() -> (any FrameMemory)? { memory.withLock { $0 }?.detached() }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let memory = memory.withLock({ $0 }) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try memory.withBytes(body)
    }

    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        memory.withLock { $0 }?.modify(body) ?? false
    }
}
