import LinuxIO

/// What a read from a non-blocking stream gave.
public enum ReadResult: Hashable, Sendable {
    /// So many bytes, at least one.
    case bytes(Int)
    /// Nothing now; wait for `pollEvents`.
    case wouldBlock
    /// The other side has ended the stream.
    case closed
}

/// A connected, non-blocking stream of bytes to one peer. Used from one thread.
public protocol ByteStream: AnyObject {
    /// For `poll`; -1 when closed.
    var fileDescriptor: Int32 { get }

    /// The peer's address, for messages.
    var peer: String { get }

    /// This end's address; `nil` when closed.
    var localAddress: SocketAddress? { get }

    /// What to wait for on `fileDescriptor` before the next `read` or `write`. Writable also when the
    /// stream itself has bytes to pass on; either call does that.
    /// - Parameter hasBytesToWrite: whether the caller has something to send.
    func pollEvents(hasBytesToWrite: Bool) -> PollEvents

    /// Takes what there is room for of the slices, in order. It may take less at a time than
    /// there is room for: go on until it takes nothing. No slice is kept.
    /// - Returns: bytes taken; 0 when there is no room now.
    func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int

    /// Reads what is there, at most as much as the buffer holds. After a full buffer read on
    /// before polling: there may be more that no descriptor tells of.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult

    /// Bytes that were taken by `write` and wait for their turn on the wire (SIOCOUTQNSD):
    /// what the kernel holds back because the network is slow. 0 when closed.
    var unsentByteCount: Int { get }

    /// Bytes that were taken by `write` and not acknowledged by the peer's kernel
    /// (SIOCOUTQ): the unsent ones and those under way. 0 when closed.
    var unacknowledgedByteCount: Int { get }

    /// Whether the peer's machine leaves unanswered what was sent and sent again: the way to it swallows packets, or it
    /// is dead. One that is there but reads nothing answers. False when closed.
    var isUnanswered: Bool { get }

    /// Why this connection was made with less of TLS than usual, when that is news; else `nil`.
    var fallbackReason: String? { get }

    /// Ends this direction: behind what was taken by `write`, the peer reads the end. Never waits,
    /// and reading goes on. A stream that is closed with bytes unread cuts off what the peer has
    /// not read yet, so: finish, read to the end, close.
    func finishSending()

    /// Ends the stream; never waits. Bytes in the kernel are still sent. Further calls throw `cancelled`.
    func close()

    /// Ends the stream at once and throws away what was not sent; the peer gets an RST. Never waits.
    func abort()
}

extension ByteStream {
    public var fallbackReason: String? { nil }

    /// As `write` of slices, for one array.
    public func write(_ bytes: [UInt8]) throws(TransportError) -> Int {
        try bytes.withBytes { bytes throws(TransportError) in
            try withUnsafePointer(to: bytes) { slice in
                Result { () throws(TransportError) in try write(UnsafeBufferPointer(start: slice, count: 1)) }
            }.get()
        }
    }

    /// As `read(into:)`: fills the array's own bytes, from its start.
    public func read(into bytes: inout [UInt8]) throws(TransportError) -> ReadResult {
        try bytes.withMutableBytes { bytes throws(TransportError) in try read(into: bytes) }
    }
}
