import DevicePorts
import Media

/// A raw frame in an array.
public final class ArrayFrame: FrameMemory {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}
