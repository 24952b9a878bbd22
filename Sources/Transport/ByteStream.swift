import LinuxIO

/// Result of a read from a non-blocking stream.
public enum ReadResult: Hashable, Sendable {
    /// Number of bytes read, at least one.
    case bytes(Int)
    /// Nothing to read now; wait for `pollEvents`.
    case wouldBlock
    /// The peer has ended the stream.
    case closed
}

/// A connected, non-blocking stream of bytes to one peer. Used from one thread.
public protocol ByteStream: AnyObject {
    /// For `poll`; -1 if closed.
    var fileDescriptor: Int32 { get }

    /// The peer's address, for messages.
    var peer: String { get }

    /// The version of TLS in use, for messages; `nil` without TLS.
    var tlsVersion: String? { get }

    /// This end's address; `nil` if closed.
    var localAddress: SocketAddress? { get }

    /// The events to wait for on `fileDescriptor` before the next `read` or `write`. Includes writable if the stream itself has
    /// bytes to flush; either call flushes them.
    /// - Parameter hasBytesToWrite: whether the caller has something to send.
    func pollEvents(hasBytesToWrite: Bool) -> PollEvents

    /// Takes as much of the slices as there is room for, in order. One call may take less than that, so repeat it until it
    /// takes nothing. Keeps no slice.
    /// - Returns: bytes taken; 0 if there is no room now.
    func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int

    /// Reads what is available, up to the buffer's size. After a full buffer, read again before polling: more data may be
    /// waiting that no descriptor reports.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult

    /// Bytes accepted by `write` that the kernel has not sent yet because the network is slow (SIOCOUTQNSD). 0 if closed.
    var unsentByteCount: Int { get }

    /// Bytes accepted by `write` that the peer's kernel has not acknowledged (SIOCOUTQ): unsent and in flight. 0 if closed.
    var unacknowledgedByteCount: Int { get }

    /// Whether the peer's machine has stopped acknowledging retransmissions: the path drops packets, or the machine is dead. A
    /// peer that only stopped reading still acknowledges. False if closed.
    var isUnanswered: Bool { get }

    /// Why this connection uses weaker TLS than usual, if that is news; else `nil`.
    var fallbackReason: String? { get }

    /// Ends this direction: the peer reads the end of the stream after everything that `write` accepted. Never blocks, and
    /// reading continues. Closing with unread input resets the connection, which costs the peer data it has not read yet. So
    /// finish, read to the end, then close.
    func finishSending()

    /// Ends the stream; never blocks. The kernel still sends what it holds. Later calls throw `canceled`.
    func close()

    /// Ends the stream at once and discards unsent data; the peer gets an RST. Never blocks.
    func abort()
}

extension ByteStream {
    public var tlsVersion: String? { nil }
    public var fallbackReason: String? { nil }

    /// `write` for a single array.
    public func write(_ bytes: [UInt8]) throws(TransportError) -> Int {
        try bytes.withBytes { bytes throws(TransportError) in
            try withUnsafePointer(to: bytes) { slice in
                Result { () throws(TransportError) in try write(UnsafeBufferPointer(start: slice, count: 1)) }
            }.get()
        }
    }

    /// Like `read(into:)`, but fills the array's existing bytes from its start.
    public func read(into bytes: inout [UInt8]) throws(TransportError) -> ReadResult {
        try bytes.withMutableBytes { bytes throws(TransportError) in try read(into: bytes) }
    }
}
