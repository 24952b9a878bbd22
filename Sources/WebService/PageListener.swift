import Media
import PageLogic
import Transport

/// Where browsers connect, with TLS or without. Used from the thread "page".
struct PageListener {
    let tcp: TCPListener
    /// `nil` without TLS.
    let identity: TLSServerIdentity?

    struct Accepted {
        let stream: any ByteStream
        let place: PageGate.Connection
    }

    /// - Returns: the next connection, whose TLS handshake goes on while it is read; `nil` if none waits.
    func accept() throws(TransportError) -> Accepted? {
        guard let connection = try tcp.accept(settings: .page) else { return nil }
        let place = PageGate.Connection(
            ownAddress: connection.localAddress?.hostOfBrowsers ?? "", peerAddress: connection.peerHost, port: tcp.port)
        guard let identity else { return Accepted(stream: connection, place: place) }
        return Accepted(stream: try TLSConnection(serving: connection, as: identity), place: place)
    }
}

extension TCPSettings {
    /// Answers are small, and a fragment of the preview that waits in the kernel is a delay.
    fileprivate static var page: TCPSettings {
        var settings = TCPSettings()
        settings.sendBufferByteCount = 128 * 1024
        // `PageClient` decides how long a browser may rest. The kernel also counts the time in which a window that is smaller
        // than a record of TLS lets only parts of it through, and would give such a browser up while it reads.
        settings.userTimeout = .seconds(30)
        return settings
    }
}

extension SocketAddress {
    /// As browsers write it: an IPv4 address that came through an IPv6 socket without its prefix.
    fileprivate var hostOfBrowsers: String { host.withoutMappedPrefix }
}

extension TCPConnection {
    /// The browser's address without its port, which changes.
    fileprivate var peerHost: String { (try? NetworkHost(parsing: peer).name.withoutMappedPrefix) ?? peer }
}

extension String {
    fileprivate var withoutMappedPrefix: String { hasPrefix("::ffff:") ? String(dropFirst(7)) : self }
}
