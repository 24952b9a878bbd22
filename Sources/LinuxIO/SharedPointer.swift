/// A C library's object that any thread may use, several at once.
///
/// Whoever makes one says where the library allows it, and frees it when no thread can use it any more.
// Thread safety is the library's promise: nothing here reads or writes what is pointed to.
public struct SharedPointer<Pointee>: @unchecked Sendable {
    public let pointer: UnsafeMutablePointer<Pointee>

    public init(_ pointer: UnsafeMutablePointer<Pointee>) { self.pointer = pointer }
}
