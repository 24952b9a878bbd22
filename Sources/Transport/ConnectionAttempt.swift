import CLinux
import Glibc
import LinuxIO
import Media

/// One address that is being connected to.
final class ConnectionAttempt {
    let address: SocketAddress
    let start: MediaTimestamp
    /// Whether a younger one to the same address is under way.
    var isRepeated = false
    /// Writable when the outcome is known.
    let fileDescriptor: Int32
    private var descriptor: OwnedFileDescriptor?

    enum Outcome {
        case pending
        case connected
        case failed(SystemCallError)
    }

    /// Starts to connect; never waits.
    init(to address: SocketAddress, settings: TCPSettings, now: MediaTimestamp) throws(SystemCallError) {
        let descriptor = try OwnedFileDescriptor(streamSocketFor: address.family)
        try descriptor.apply(settings)
        let result = address.withSocketAddress { connect(descriptor.rawValue, $0, $1) }
        // Interrupted, it goes on in the background as well.
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

    /// Takes the socket over when it is connected; `nil` when that was done before.
    func takeConnection(settings: TCPSettings) throws(TransportError) -> TCPConnection? {
        guard let descriptor = descriptor.take() else { return nil }
        return try TCPConnection(connected: descriptor, peer: "\(address)", settings: settings)
    }
}
