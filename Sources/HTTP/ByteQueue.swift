/// Bytes that have arrived and are not used up. Adding and removing them takes time linear in the bytes, whatever the portions.
struct ByteQueue: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    /// - Parameter index: counted from the oldest byte.
    subscript(index: Int) -> UInt8 { bytes[start + index] }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[start + range.lowerBound..<start + range.upperBound] }

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    mutating func removeFirst(_ count: Int) {
        start += count
        if start == bytes.count {
            // An idle connection must not hold the memory of its largest body.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
            start = 0
        } else if start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() {
        bytes = []
        start = 0
    }
}
