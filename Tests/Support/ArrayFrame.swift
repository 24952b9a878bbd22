import DevicePorts
import Media

/// A raw picture in an array.
public final class ArrayFrame: FrameMemory {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}

/// Random numbers that are the same in every run (xorshift64*, Marsaglia and Vigna).
public struct FixedRandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    public mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// Evenly spread bytes, 8 from each number.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, initializedCount in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            for offset in stride(from: 0, to: count, by: 8) {
                raw.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
            }
            initializedCount = count
        }
    }
}
