/// A C library's object that several threads may use at once.
///
/// Create one only where the library allows that, and free the object when no thread can use it any longer.
/// Thread safety is the library's promise: nothing here accesses the object itself.
public struct SharedPointer<Pointee>: @unchecked Sendable {
    public let pointer: UnsafeMutablePointer<Pointee>

    public init(_ pointer: UnsafeMutablePointer<Pointee>) { self.pointer = pointer }
}
