import CLinux
import Glibc
import LinuxIO

/// A listening TCP socket, non-blocking. Used from one thread.
public final class TCPListener {
    /// The listening address. Its port is the one the kernel chose if 0 was requested.
    public let localAddress: SocketAddress
    private let descriptor: OwnedFileDescriptor

    /// Binds the host's first bindable address.
    /// - Parameter endpoint: an empty host means all addresses of the machine, port 0 any free port.
    public init(_ endpoint: Endpoint) throws(TransportError) {
        let addresses: [SocketAddress]
        switch SocketAddress.lookUp(endpoint.host, port: endpoint.port, flags: AI_PASSIVE) {
        case .success(let found): addresses = found
        case .failure(let failure): throw failure.error(for: endpoint)
        }
        var failure = SystemCallError("bind", number: EADDRNOTAVAIL, subject: "\(endpoint)")
        for address in addresses {
            do {
                let bound = try Self.listen(address)
                let name = SocketAddress.receive { pointer, length in getsockname(bound.rawValue, pointer, length) }
                localAddress = name.address ?? address
                descriptor = consume bound
                return
            } catch {
                failure = error
            }
        }
        throw .socketFailed(failure)
    }

    private static func listen(_ address: SocketAddress) throws(SystemCallError) -> OwnedFileDescriptor {
        let descriptor = try OwnedFileDescriptor(streamSocketFor: address.family)
        try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR")
        guard address.withSocketAddress({ bind(descriptor.rawValue, $0, $1) }) == 0 else {
            throw SystemCallError("bind", subject: "\(address)")
        }
        guard Glibc.listen(descriptor.rawValue, 128) == 0 else {
            throw SystemCallError("listen", subject: "\(address)")
        }
        return descriptor
    }

    /// Readable when `accept` has a connection.
    public var fileDescriptor: Int32 { descriptor.rawValue }
    public var port: UInt16 { localAddress.port }

    /// Errors of a connection that failed before it was accepted, not of the listener (accept(2)).
    private static let connectionErrors: Set<Int32> = [
        ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH,
    ]

    /// Accepts the next connection; `nil` if none is waiting.
    /// - Throws: also when descriptors or memory are used up. The connection then stays in the kernel's queue.
    public func accept(settings: TCPSettings = TCPSettings()) throws(TransportError) -> TCPConnection? {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let (result, address) = SocketAddress.receive { address, length in
            retryingInterrupted { clinux_accept4(descriptor.rawValue, address, length, flags) }
        }
        guard result >= 0 else {
            if errno == EAGAIN || Self.connectionErrors.contains(errno) { return nil }
            throw .socketFailed(SystemCallError("accept4", subject: "\(localAddress)"))
        }
        return try TCPConnection(
            connected: OwnedFileDescriptor(adopting: result), peer: address?.description ?? "?", settings: settings)
    }
}
