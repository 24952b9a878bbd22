import CLinux
import Glibc
import Synchronization

/// A part of a file or device mapped for reading (mmap(2)). It stays mapped as long as the object lives.
// Safe to share: address and length never change, and nobody but its one reader's library writes through it.
public final class MappedMemory: @unchecked Sendable {
    public let bytes: UnsafeRawBufferPointer

    /// - Parameters:
    ///   - offset: a multiple of the page size, or what the device calls so.
    ///   - isWritable: for a reader that works in place.
    public init(
        _ fileDescriptor: Int32, offset: Int, byteCount: Int, isWritable: Bool = false
    ) throws(SystemCallError) {
        let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        guard let address = mmap(nil, byteCount, protection, MAP_SHARED, fileDescriptor, offset), address != MAP_FAILED
        else { throw SystemCallError("mmap", subject: "\(byteCount) bytes") }
        bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// Memory that is mapped when somebody asks for it, and stays.
public final class LazyMapping: Sendable {
    private let memory = Mutex<MappedMemory?>(nil)

    public init() {}

    public func bytes(
        _ map: () throws(SystemCallError) -> MappedMemory
    ) throws(SystemCallError) -> UnsafeRawBufferPointer {
        if let present = memory.withLock({ $0 }) { return present.bytes }
        let mapped = try map()
        return memory.withLock { memory in
            // Another thread may have been faster, and its reader is at work.
            let kept = memory ?? mapped
            memory = kept
            return kept.bytes
        }
    }
}

/// A descriptor with several owners; the last one closes it.
public final class SharedDescriptor: Sendable {
    private let descriptor: OwnedFileDescriptor

    public init(_ descriptor: consuming OwnedFileDescriptor) { self.descriptor = descriptor }

    public var rawValue: Int32 { descriptor.rawValue }
}

/// Tells the kernel that the processor reads a DMABUF between the two calls, so that it sees what the device wrote.
public enum DMABufferAccess {
    public static func start(_ fileDescriptor: Int32) { synchronize(fileDescriptor, UInt64(DMA_BUF_SYNC_START)) }
    public static func end(_ fileDescriptor: Int32) { synchronize(fileDescriptor, UInt64(DMA_BUF_SYNC_END)) }

    private static func synchronize(_ fileDescriptor: Int32, _ flag: UInt64) {
        var request = dma_buf_sync(flags: flag | UInt64(DMA_BUF_SYNC_READ))
        // A buffer that needs none refuses; there is nothing else to do.
        _ = ioctl(fileDescriptor, clinux_dma_buf_ioctl_sync, &request)
    }
}

/// A device's memory, held by its descriptor alone: it stays when the device is closed or unplugged.
public final class DMABuffer: Sendable {
    private let descriptor: SharedDescriptor
    private let byteCount: Int
    private let mapping = LazyMapping()

    /// - Parameter byteCount: of the memory, from its start, that counts.
    public init(_ descriptor: SharedDescriptor, byteCount: Int) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    /// - Parameter duplicating: an open descriptor, which stays its owner's.
    public convenience init(duplicating fileDescriptor: Int32, byteCount: Int) throws(SystemCallError) {
        let copy = fcntl(fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCallError("fcntl") }
        self.init(SharedDescriptor(OwnedFileDescriptor(adopting: copy)), byteCount: byteCount)
    }

    public var fileDescriptor: Int32 { descriptor.rawValue }

    /// Gives the bytes as the device has left them, none when they cannot be mapped.
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let bytes = try? mapping.bytes { () throws(SystemCallError) in
            try MappedMemory(descriptor.rawValue, offset: 0, byteCount: byteCount)
        }
        guard let bytes else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        DMABufferAccess.start(descriptor.rawValue)
        defer { DMABufferAccess.end(descriptor.rawValue) }
        return try body(bytes)
    }
}
