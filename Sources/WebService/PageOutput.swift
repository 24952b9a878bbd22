import LinuxIO
import Transport

/// Bytes on their way to one browser. Large parts are shared, not copied.
struct PageOutput {
    private var parts: [[UInt8]] = []
    /// How much of the first part was sent.
    private var sentCount = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { parts.isEmpty }

    mutating func append(_ part: [UInt8]) {
        guard !part.isEmpty else { return }
        parts.append(part)
        byteCount += part.count
    }

    /// Sends as much as the connection takes now.
    /// - Returns: whether it took anything.
    mutating func write(to connection: any ByteStream) throws(TransportError) -> Bool {
        var hasSent = false
        while let part = parts.first {
            let count = try part.withBytes { bytes throws(TransportError) in
                let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sentCount))
                return try withUnsafePointer(to: rest) { slice throws(TransportError) in
                    try connection.write(UnsafeBufferPointer(start: slice, count: 1))
                }
            }
            guard count > 0 else { break }
            hasSent = true
            sentCount += count
            byteCount -= count
            guard sentCount == part.count else { break }
            parts.removeFirst()
            sentCount = 0
        }
        return hasSent
    }
}
