extension [UInt8] {
    /// The bytes, with the body's typed error passed on, which the standard library's call turns into `any Error`.
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBytes { bytes in
            Result { () throws(Failure) in try body(bytes) }
        }.get()
    }

    /// As `withBytes`, to write to the bytes.
    public mutating func withMutableBytes<Value, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeMutableBytes { bytes in
            Result { () throws(Failure) in try body(bytes) }
        }.get()
    }
}
