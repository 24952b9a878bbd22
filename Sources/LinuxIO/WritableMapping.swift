import Glibc

/// Memory of a device, mapped for reading and writing. Has one owner, who keeps it to one thread.
public final class WritableMapping {
    public let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter offset: what the device calls so.
    public init(_ fileDescriptor: Int32, offset: Int, byteCount: Int) throws(SystemCallError) {
        guard
            let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, fileDescriptor, offset),
            address != MAP_FAILED
        else { throw SystemCallError("mmap", subject: "\(byteCount) bytes") }
        bytes = UnsafeMutableRawBufferPointer(start: address, count: byteCount)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}
