import LinuxIO
import Media
import Transport

/// Connections to servers and the state of links: this machine's, or a test's replacement.
public struct PublisherNetwork: Sendable {
    /// A requested connection.
    public struct Request: Sendable {
        /// Its host and port; its scheme says whether TLS is used.
        public let url: RTMPURL
        /// PEM file of the authorities that TLS trusts; `nil` for the system's.
        public let authorityFile: String?
        public let timeouts: ConnectionTimeouts
        public let settings: TCPSettings
        /// Reads that file.
        public let card: CardCalls
        /// A descriptor: once it is readable, the attempt ends with `canceled`. Nothing is read from it.
        public let cancellation: Int32

        package init(
            url: RTMPURL, authorityFile: String?, timeouts: ConnectionTimeouts, settings: TCPSettings, card: CardCalls,
            cancellation: Int32
        ) {
            self.url = url
            self.authorityFile = authorityFile
            self.timeouts = timeouts
            self.settings = settings
            self.card = card
            self.cancellation = cancellation
        }
    }

    /// Waits until the connection is up, on the thread that will use it.
    package let connect: @Sendable (Request) throws(TransportError) -> any ByteStream
    /// Called on the thread that will use it; `nil` if links cannot be observed.
    let watchLinks: @Sendable () -> (any LinkWatch)?

    public init(
        connect: @escaping @Sendable (Request) throws(TransportError) -> any ByteStream,
        watchLinks: @escaping @Sendable () -> (any LinkWatch)? = { nil }
    ) {
        self.connect = connect
        self.watchLinks = watchLinks
    }

    public static let ofThisMachine = PublisherNetwork(
        connect: { (request) throws(TransportError) in
            let url = request.url
            return try Connector.connect(
                to: Endpoint(host: url.host, port: url.port), security: try request.security(),
                timeouts: request.timeouts, settings: request.settings, cancellation: request.cancellation)
        },
        // Without netlink, as in a sandbox, only TCP notices a lost link, seconds later.
        watchLinks: { try? LinkMonitor() })
}

extension PublisherNetwork.Request {
    fileprivate func security() throws(TransportError) -> TransportSecurity {
        guard url.scheme == .rtmps else { return .none }
        return .tls(
            try TLSContext.shared(
                authorityFile: authorityFile, readBy: card, within: StepTimeouts.card, cancellation: cancellation))
    }
}

/// Tells a live stream about the machine's links. Used from one thread.
public protocol LinkWatch: AnyObject, OwnLink.Links {
    /// Readable when `takeEvents` may have something.
    var fileDescriptor: Int32 { get }
    /// The events since the last call; never waits.
    func takeEvents() throws(SystemCallError) -> [LinkEvent]
    /// Makes the kernel ask unanswering neighbors again.
    func forgetUnresolvedNeighbors() throws(SystemCallError)
}

extension LinkMonitor: LinkWatch {}
