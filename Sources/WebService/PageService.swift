import HTTP
import LinuxIO
import PageLogic
import Transport

/// The page's server as the main thread sees it. The thread "page" has the sockets.
package final class PageService {
    /// Requests that wait for the device.
    package let orders: Mailbox<PageOrder>
    package let address: SocketAddress
    private let notices: Mailbox<PageNotice>
    private let thread: JoinableThread

    /// Listens, and starts the thread.
    /// - Parameters:
    ///   - endpoint: where to listen; port 0 is any free one.
    ///   - identity: for TLS; `nil` without.
    ///   - gate: the device's names and the paired browsers.
    ///   - opening: another one each time, so that a late answer finds no connection of the next server.
    /// - Throws: `TransportError` if the address cannot be used; `SystemCallError` if there is no thread.
    package init(
        listeningOn endpoint: Endpoint, as identity: TLSServerIdentity?, _ gate: PageGate, viewer: ViewerSink?,
        opening: Int
    ) throws {
        let listener = PageListener(tcp: try TCPListener(endpoint), identity: identity)
        let (orders, notices) = (try Mailbox<PageOrder>(), try Mailbox<PageNotice>())
        self.orders = orders
        self.notices = notices
        address = listener.tcp.localAddress
        let disk = try PageDisk()
        thread = JoinableThread(
            try NamedThread("page") {
                PageThread(
                    listener, gate, orders: orders, notices: notices, viewer: viewer, disk: disk,
                    firstID: UInt64(opening) << 40
                ).run()
            })
    }

    package func tell(_ notice: PageNotice) { notices.send(notice) }

    package func answer(_ id: UInt64, _ response: HTTPResponse) { notices.send(.answer(id, response)) }

    /// Closes all connections and waits for the thread, which waits for nothing but sockets.
    package func end() {
        notices.send(.end)
        thread.join()
    }
}
