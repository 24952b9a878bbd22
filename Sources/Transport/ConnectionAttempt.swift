import CLinux
import Glibc
import LinuxIO
import Media

/// An attempt to connect to one address.
final class ConnectionAttempt {
    let address: SocketAddress
    let start: MediaTimestamp
    /// Whether a newer attempt to the same address is running.
    var isRepeated = false
    /// Becomes writable when the outcome is known.
    let fileDescriptor: Int32
    private var descriptor: OwnedFileDescriptor?

    enum Outcome {
        case pending
        case connected
        case failed(SystemCallError)
    }

    /// Starts to connect; never blocks.
    init(to address: SocketAddress, settings: TCPSettings, now: MediaTimestamp) throws(SystemCallError) {
        let descriptor = try OwnedFileDescriptor(streamSocketFor: address.family)
        try descriptor.apply(settings)
        let result = address.withSocketAddress { connect(descriptor.rawValue, $0, $1) }
        // An interrupted connect continues in the background too.
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else {
            throw SystemCallError("connect", subject: "\(address)")
        }
        self.address = address
        start = now
        fileDescriptor = descriptor.rawValue
        self.descriptor = consume descriptor
    }

    func outcome() -> Outcome {
        var entry = [PollEntry(fileDescriptor, .writable)]
        do {
            guard try poll(&entry, until: .zero) > 0 else { return .pending }
        } catch {
            return .failed(error)
        }
        var number: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(fileDescriptor, SOL_SOCKET, SO_ERROR, &number, &length) == 0 else {
            return .failed(SystemCallError("getsockopt", subject: "SO_ERROR"))
        }
        return number == 0 ? .connected : .failed(SystemCallError("connect", number: number, subject: "\(address)"))
    }

    /// Hands over the connected socket, once; `nil` after that.
    func takeConnection(settings: TCPSettings) throws(TransportError) -> TCPConnection? {
        guard let descriptor = descriptor.take() else { return nil }
        return try TCPConnection(connected: descriptor, peer: "\(address)", settings: settings)
    }
}
