import Glibc
import LinuxIO
import Synchronization
import Transport

/// One end of a connection without a network: a socketpair(2) that the test can disturb. Used from one thread, like every
/// stream; its `End` can be handed to that thread.
public final class ScriptedStream: ByteStream {
    /// What a test does to one direction, and what it observes. Any thread.
    public final class Wire: Sendable {
        public struct Content: Sendable {
            /// Each write accepts at most this many bytes, and the next one none; `nil` for no limit.
            public var bytesPerWrite: Int?
            /// Behaves as if the peer's machine did not answer.
            public var isUnanswered = false
            public fileprivate(set) var writtenByteCount = 0
            public fileprivate(set) var readByteCount = 0
            /// Aborted with a reset.
            public fileprivate(set) var isAborted = false
            public fileprivate(set) var isClosed = false
        }

        public let content = Mutex(Content())

        init() {}
    }

    /// An end that no thread uses yet; make it a stream once.
    public struct End: Sendable {
        fileprivate let descriptor: Int32
        public let peer: String
        public let outgoing: Wire
        public let incoming: Wire
    }

    /// - Parameter names: names of both ends, as the other one sees them.
    public static func pair(_ names: (String, String) = ("client:1", "server:1935")) throws(SystemCallError) -> (
        End, End
    ) {
        var descriptors: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &descriptors) == 0 else { throw SystemCallError("socketpair") }
        let (there, back) = (Wire(), Wire())
        return (
            End(descriptor: descriptors[0], peer: names.1, outgoing: there, incoming: back),
            End(descriptor: descriptors[1], peer: names.0, outgoing: back, incoming: there)
        )
    }

    public let peer: String
    public private(set) var fileDescriptor: Int32
    private var descriptor: OwnedFileDescriptor?
    private let outgoing: Wire
    private let incoming: Wire
    private var skipsWrite = false

    public init(_ end: End) {
        peer = end.peer
        outgoing = end.outgoing
        incoming = end.incoming
        fileDescriptor = end.descriptor
        descriptor = OwnedFileDescriptor(adopting: end.descriptor)
    }

    public var localAddress: SocketAddress? { SocketAddress(numericHost: "192.0.2.1", port: 40_000) }

    public func pollEvents(hasBytesToWrite: Bool) -> PollEvents {
        hasBytesToWrite ? [.readable, .writable] : .readable
    }

    public func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int {
        guard fileDescriptor >= 0 else { throw .canceled }
        let room = outgoing.content.withLock { $0.bytesPerWrite }
        skipsWrite = room != nil && !skipsWrite
        guard room == nil || skipsWrite else { return 0 }
        guard let slice = slices.first(where: { !$0.isEmpty }) else { return 0 }
        let count = send(fileDescriptor, slice.baseAddress, min(slice.count, room ?? .max), Int32(MSG_NOSIGNAL))
        guard count >= 0 else {
            if errno == EAGAIN { return 0 }
            throw .closedByPeer(peer: peer, SystemCallError("send"))
        }
        outgoing.content.withLock { $0.writtenByteCount += count }
        return count
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        guard fileDescriptor >= 0 else { throw .canceled }
        let count = recv(fileDescriptor, buffer.baseAddress, buffer.count, 0)
        let wasAborted = incoming.content.withLock { content in
            content.readByteCount += max(0, count)
            return content.isAborted
        }
        if count > 0 { return .bytes(count) }
        if count < 0, errno == EAGAIN { return .wouldBlock }
        if count == 0, !wasAborted { return .closed }
        throw .closedByPeer(peer: peer, SystemCallError("recv", number: ECONNRESET))
    }

    /// The unread bytes. How many of them a kernel would have sent is unknown.
    public var unacknowledgedByteCount: Int {
        guard fileDescriptor >= 0 else { return 0 }
        return outgoing.content.withLock { $0.writtenByteCount - $0.readByteCount }
    }
    public var unsentByteCount: Int { 0 }
    public var isUnanswered: Bool { fileDescriptor >= 0 && outgoing.content.withLock { $0.isUnanswered } }

    public func finishSending() { _ = shutdown(fileDescriptor, Int32(SHUT_WR)) }

    public func close() {
        outgoing.content.withLock { $0.isClosed = true }
        fileDescriptor = -1
        descriptor = nil
    }

    public func abort() {
        guard fileDescriptor >= 0 else { return }
        outgoing.content.withLock { $0.isAborted = true }
        close()
    }
}
