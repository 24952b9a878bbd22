import Glibc

/// A part of a file or device mapped for reading (mmap(2)). It stays mapped as long as the object lives.
// Safe to share: address and length never change, and nobody writes through it.
public final class MappedMemory: @unchecked Sendable {
    public let bytes: UnsafeRawBufferPointer

    /// - Parameter offset: a multiple of the page size, or what the device calls so.
    public init(_ fileDescriptor: Int32, offset: Int, byteCount: Int) throws(SystemCallError) {
        guard let address = mmap(nil, byteCount, PROT_READ, MAP_SHARED, fileDescriptor, offset), address != MAP_FAILED
        else { throw SystemCallError("mmap", subject: "\(byteCount) bytes") }
        bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
