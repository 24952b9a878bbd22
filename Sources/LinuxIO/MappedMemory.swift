import CLinux
import DevicePorts
import Glibc
import Synchronization

/// Part of a file or device mapped into memory (mmap(2)), for as long as the object lives.
// Safe to share: address and length never change, and only a frame's first holder writes through it.
public final class MappedMemory: @unchecked Sendable {
    public let bytes: UnsafeRawBufferPointer
    private let isWritable: Bool

    /// `nil` if the mapping is read-only.
    public var mutableBytes: UnsafeMutableRawBufferPointer? {
        isWritable ? UnsafeMutableRawBufferPointer(mutating: bytes) : nil
    }

    /// - Parameters:
    ///   - offset: a multiple of the page size, or the device's own mapping token.
    public init(_ fileDescriptor: Int32, offset: Int, byteCount: Int) throws(SystemCallError) {
        func map(_ protection: Int32) -> UnsafeMutableRawPointer? {
            let address = mmap(nil, byteCount, protection, MAP_SHARED, fileDescriptor, offset)
            return address == MAP_FAILED ? nil : address
        }
        // A descriptor opened read-only allows no more than reading.
        let writable = map(PROT_READ | PROT_WRITE)
        guard let address = writable ?? map(PROT_READ) else {
            throw SystemCallError("mmap", subject: "\(byteCount) bytes")
        }
        bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
        isWritable = writable != nil
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// Memory that is mapped at the first request and stays mapped.
public final class LazyMapping: Sendable {
    private let memory = Mutex<MappedMemory?>(nil)

    public init() {}

    public func mapped(
        _ map: () throws(SystemCallError) -> MappedMemory
    ) throws(SystemCallError) -> MappedMemory {
        if let present = memory.withLock({ $0 }) { return present }
        let mapped = try map()
        return memory.withLock { memory in
            // Another thread may have mapped it first, and readers already use that mapping.
            let kept = memory ?? mapped
            memory = kept
            return kept
        }
    }
}

/// A descriptor with several owners; the last one closes it.
public final class SharedDescriptor: Sendable {
    private let descriptor: OwnedFileDescriptor

    public init(_ descriptor: consuming OwnedFileDescriptor) { self.descriptor = descriptor }

    public var rawValue: Int32 { descriptor.rawValue }
}

/// Brackets the CPU's access to a DMABUF: reads see what the device wrote, and the next device sees what the CPU wrote.
public enum DMABufferAccess {
    public static func start(_ fileDescriptor: Int32, writes: Bool = false) {
        synchronize(fileDescriptor, UInt64(DMA_BUF_SYNC_START), writes)
    }

    public static func end(_ fileDescriptor: Int32, writes: Bool = false) {
        synchronize(fileDescriptor, UInt64(DMA_BUF_SYNC_END), writes)
    }

    private static func synchronize(_ fileDescriptor: Int32, _ flag: UInt64, _ writes: Bool) {
        let access = UInt64(DMA_BUF_SYNC_READ) | (writes ? UInt64(DMA_BUF_SYNC_WRITE) : 0)
        var request = dma_buf_sync(flags: flag | access)
        // A buffer that needs no synchronization rejects the call. There is nothing else to do.
        _ = ioctl(fileDescriptor, clinux_dma_buf_ioctl_sync, &request)
    }
}

/// A device's memory, kept alive by its descriptor alone: it outlives the device being closed or unplugged.
public final class DMABuffer: FrameMemory {
    private let descriptor: SharedDescriptor
    private let byteCount: Int
    private let mapping = LazyMapping()

    /// - Parameter byteCount: length of the used part, from the start of the memory.
    public init(_ descriptor: SharedDescriptor, byteCount: Int) {
        self.descriptor = descriptor
        self.byteCount = byteCount
    }

    /// - Parameter duplicating: an open descriptor, which the caller keeps.
    public convenience init(duplicating fileDescriptor: Int32, byteCount: Int) throws(SystemCallError) {
        let copy = fcntl(fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCallError("fcntl") }
        self.init(SharedDescriptor(OwnedFileDescriptor(adopting: copy)), byteCount: byteCount)
    }

    public var fileDescriptor: Int32 { descriptor.rawValue }
    public var dmabuf: Int32? { descriptor.rawValue }
    public func detached() -> (any FrameMemory)? { self }

    /// Gives the body the bytes that the device wrote, or none if they cannot be mapped.
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let bytes = mapped?.bytes else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        DMABufferAccess.start(descriptor.rawValue)
        defer { DMABufferAccess.end(descriptor.rawValue) }
        return try body(bytes)
    }

    /// - Returns: false if the memory is read-only; the body did not run then.
    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        guard let bytes = mapped?.mutableBytes else { return false }
        DMABufferAccess.start(descriptor.rawValue, writes: true)
        defer { DMABufferAccess.end(descriptor.rawValue, writes: true) }
        body(bytes)
        return true
    }

    private var mapped: MappedMemory? {
        try? mapping.mapped { () throws(SystemCallError) in
            try MappedMemory(descriptor.rawValue, offset: 0, byteCount: byteCount)
        }
    }
}
