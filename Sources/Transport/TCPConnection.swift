import CLinux
import Glibc
import LinuxIO
import Media

/// TCP options for live media: a short queue, no delay, quick detection of a dead peer.
public struct TCPSettings: Hashable, Sendable {
    /// SO_SNDBUF: the most bytes that the kernel holds, in flight and unsent (it doubles the value for bookkeeping). Limits the
    /// rate to this amount per round trip.
    public var sendBufferByteCount: Int = 256 * 1024
    /// TCP_NOTSENT_LOWAT: the socket is writable only while fewer bytes than this are unsent.
    public var unsentLowWaterByteCount: Int = 16 * 1024
    /// A write accepts nothing while this many bytes are unsent, and never more than this at once; `nil` for no limit. The
    /// low-water mark alone does not suffice: it stops only new segments, and the last one still grows to 64 KB, which is more
    /// than a second on a slow link.
    public var unsentByteLimit: Int?
    /// TCP_USER_TIMEOUT: the peer counts as dead if it acknowledges nothing, or keeps its window at zero, for this long.
    public var userTimeout: Duration = .seconds(5)

    public init() {}
}

/// A connected, non-blocking TCP socket. Used from one thread.
public final class TCPConnection: ByteStream {
    public let peer: String
    /// Read in the middle of each write. Only `close` changes it, on the same thread.
    @exclusivity(unchecked) public private(set) var fileDescriptor: Int32
    private var descriptor: OwnedFileDescriptor?
    private let unsentByteLimit: Int?
    /// Number of reads that are still acknowledged immediately. A server with Nagle's algorithm sends the second of two short
    /// answers only after the first is acknowledged. Linux delays that by 40 ms, longer than everything else before the first
    /// frame.
    private var promptAcknowledgements = 16

    /// Takes over a connected socket and applies the settings.
    init(connected descriptor: consuming OwnedFileDescriptor, peer: String, settings: TCPSettings)
        throws(TransportError)
    {
        do {
            try descriptor.apply(settings)
            try descriptor.setNonBlocking()
        } catch {
            throw .socketFailed(error)
        }
        self.peer = peer
        unsentByteLimit = settings.unsentByteLimit
        fileDescriptor = descriptor.rawValue
        self.descriptor = consume descriptor
    }

    public var localAddress: SocketAddress? {
        SocketAddress.receive { address, length in getsockname(fileDescriptor, address, length) }.address
    }

    public func pollEvents(hasBytesToWrite: Bool) -> PollEvents {
        hasBytesToWrite ? [.readable, .writable] : .readable
    }

    /// The most slices per system call.
    private static let maximumSliceCount = 64

    public func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int {
        guard fileDescriptor >= 0 else { throw .canceled }
        if let unsentByteLimit, unsentByteCount >= unsentByteLimit { return 0 }
        let sliceCount = min(slices.count, Self.maximumSliceCount)
        let count = withUnsafeTemporaryAllocation(of: iovec.self, capacity: max(1, sliceCount)) { vectors -> Int in
            var room = unsentByteLimit ?? .max
            for index in 0..<sliceCount {
                let byteCount = min(room, slices[index].count)
                room -= byteCount
                vectors[index] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: slices[index].baseAddress), iov_len: byteCount)
            }
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = sliceCount
            return retryingInterrupted { sendmsg(fileDescriptor, &message, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == ENOBUFS { return 0 }
        throw .sending(SystemCallError("sendmsg"), to: peer)
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        guard fileDescriptor >= 0 else { throw .canceled }
        guard !buffer.isEmpty else { return .wouldBlock }
        let count = retryingInterrupted { recv(fileDescriptor, buffer.baseAddress, buffer.count, 0) }
        if count > 0 {
            if promptAcknowledgements > 0 { acknowledgePromptly() }
            return .bytes(count)
        }
        if count == 0 { return .closed }
        if errno == EAGAIN { return .wouldBlock }
        throw .receiving(SystemCallError("recv"), from: peer)
    }

    /// Linux returns to delayed acknowledgements after each write, so this must be set repeatedly.
    private func acknowledgePromptly() {
        promptAcknowledgements -= 1
        var on: Int32 = 1
        // If the kernel refuses, only time is lost.
        setsockopt(fileDescriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    public var unsentByteCount: Int { queuedByteCount(UInt(SIOCOUTQNSD)) }
    public var unacknowledgedByteCount: Int { queuedByteCount(UInt(SIOCOUTQ)) }

    /// From TCP's own statistics: two retransmissions or window probes in a row, and no answer to the last one.
    public var isUnanswered: Bool {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(fileDescriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return false }
        if info.tcpi_probes >= 2 { return true }
        // Both values are ages in milliseconds. An answer takes a moment.
        return info.tcpi_unacked > 0 && info.tcpi_retransmits >= 2
            && info.tcpi_last_ack_recv > info.tcpi_last_data_sent && info.tcpi_last_data_sent >= Self.answerTime
    }

    /// Milliseconds to wait for an answer after a retransmission.
    private static let answerTime: UInt32 = 200

    private func queuedByteCount(_ request: UInt) -> Int {
        var count: Int32 = 0
        return ioctl(fileDescriptor, request, &count) == 0 ? Int(count) : 0
    }

    public func finishSending() {
        // This fails only if the connection is already gone.
        _ = shutdown(fileDescriptor, Int32(SHUT_WR))
    }

    public func close() {
        fileDescriptor = -1
        descriptor = nil
    }

    public func abort() {
        guard fileDescriptor >= 0 else { return }
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        setsockopt(fileDescriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

extension OwnedFileDescriptor {
    /// Creates a TCP socket, non-blocking and close-on-exec.
    init(streamSocketFor family: SocketAddress.Family) throws(SystemCallError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family.rawValue, type, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw SystemCallError("socket", subject: "\(family)") }
        self.init(adopting: descriptor)
    }

    borrowing func apply(_ settings: TCPSettings) throws(SystemCallError) {
        let timeout = settings.userTimeout.wholeNanoseconds / 1_000_000
        try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1, "TCP_NODELAY")
        try setOption(SOL_SOCKET, SO_SNDBUF, settings.sendBufferByteCount, "SO_SNDBUF")
        try setOption(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, settings.unsentLowWaterByteCount, "TCP_NOTSENT_LOWAT")
        try setOption(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int(timeout), "TCP_USER_TIMEOUT")
        // Lets the stream resume within a second after an outage. Kernels before 6.15 do not know the option and keep doubling
        // the time between two retransmissions.
        try? setOption(Int32(IPPROTO_TCP), Self.longestRepetitionOption, 1000, "TCP_RTO_MAX_MS")
    }

    /// TCP_RTO_MAX_MS of linux/tcp.h; the C library's header does not have it yet.
    private static var longestRepetitionOption: Int32 { 44 }

    borrowing func setOption(_ level: Int32, _ option: Int32, _ value: Int, _ name: String) throws(SystemCallError) {
        var value = Int32(clamping: value)
        guard setsockopt(rawValue, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw SystemCallError("setsockopt", subject: name)
        }
    }
}

/// Repeats a call that was interrupted by a signal.
func retryingInterrupted<Count: SignedInteger>(_ call: () -> Count) -> Count {
    var result: Count
    repeat { result = call() } while result < 0 && errno == EINTR
    return result
}

extension TransportError {
    static func sending(_ error: SystemCallError, to peer: String) -> TransportError {
        broken(error, peer: peer) ?? .sendFailed(peer: peer, error)
    }

    static func receiving(_ error: SystemCallError, from peer: String) -> TransportError {
        broken(error, peer: peer) ?? .receiveFailed(peer: peer, error)
    }

    /// The errors that mean a lost connection, whichever call returns them.
    private static func broken(_ error: SystemCallError, peer: String) -> TransportError? {
        switch error.number {
        case ETIMEDOUT: .timedOut(peer: peer, .transfer)
        case ECONNRESET, EPIPE, ECONNABORTED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, ENOTCONN:
            .closedByPeer(peer: peer, error)
        default: nil
        }
    }
}
