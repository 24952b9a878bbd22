import CLinux
import Glibc
import LinuxIO

/// Reports links that go up or down, new addresses, and changes of the default route, from the kernel's routing socket
/// (rtnetlink(7)). Used from one thread.
public final class LinkMonitor {
    private let socket: OwnedFileDescriptor
    private var table = LinkTable()

    public init() throws(SystemCallError) {
        // Listen before taking the dump, so that no change is missed in between.
        socket = try Self.openSocket(groups: Self.groups)
        try socket.setNonBlocking()
        table = try Self.dump()
    }

    /// Readable when `takeEvents` may have something.
    public var fileDescriptor: Int32 { socket.rawValue }

    /// Whether a default route exists. Servers on the board's own subnet need none.
    public var hasDefaultRoute: Bool { table.hasDefaultRoute }

    /// The names of the links that are up, without loopback.
    public var linksUp: Set<String> { table.linksUp }

    /// The board's own address, for people: IPv4 if there is one; `nil` without any.
    public var firstAddress: String? { table.ownAddresses.first }

    /// All of them, IPv4 first.
    public var ownAddresses: [String] { table.ownAddresses }

    /// Whether the link has an address that is valid beyond the link itself.
    public func hasAddress(_ link: String) -> Bool { table.hasAddress(link) }

    /// The name of the link that a connection uses, found by its `localAddress`.
    public func link(holding address: SocketAddress) -> String? { table.link(holding: address.bytes) }

    /// The events since the last call, or the first of very many: the descriptor then stays readable. Never blocks.
    public func takeEvents() throws(SystemCallError) -> [LinkEvent] {
        var events: [LinkEvent] = []
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        for _ in 0..<Self.mostReads {
            let count = retryingInterrupted { recv(socket.rawValue, &buffer, buffer.count, 0) }
            if count > 0 {
                for message in RouteMessage.messages(in: buffer[..<count]) {
                    events += table.messageReceived(message)
                }
            } else if count < 0, errno == ENOBUFS {
                // The socket overflowed and lost the newest messages, so take a fresh dump. Messages still in the socket are
                // older than the dump and must not be applied after it.
                discardQueue(&buffer)
                let fresh = try Self.dump()
                events += fresh.changes(since: table)
                table = fresh
                return events
            } else if count == 0 || errno == EAGAIN {
                return events
            } else {
                throw SystemCallError("recv", subject: "netlink")
            }
        }
        return events
    }
}

extension LinkMonitor {
    /// The most messages for one call of `takeEvents`.
    private static let mostReads = 64
    /// More than the socket's buffer holds, so that later messages cannot prolong the discarding forever.
    private static let mostDiscards = 4096

    private func discardQueue(_ buffer: inout [UInt8]) {
        for _ in 0..<Self.mostDiscards {
            let count = retryingInterrupted { recv(socket.rawValue, &buffer, buffer.count, 0) }
            guard count > 0 || errno == ENOBUFS else { return }
        }
    }

    /// Larger than the kernel's largest dump message (32 KiB).
    private static let bufferSize = 65_536

    /// RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR and so on, as bits.
    private static let groups = UInt32(
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE)

    static func openSocket(groups: UInt32) throws(SystemCallError) -> OwnedFileDescriptor {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard number >= 0 else { throw SystemCallError("socket", subject: "netlink") }
        let descriptor = OwnedFileDescriptor(adopting: number)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = groups
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard result == 0 else { throw SystemCallError("bind", subject: "netlink") }
        return descriptor
    }

    /// The current state of the network.
    private static func dump() throws(SystemCallError) -> LinkTable {
        let socket = try openSocket(groups: 0)
        var table = LinkTable()
        for request in [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE] {
            // A struct rtgenmsg, whose family 0 means all.
            try send(UInt16(request), flags: NLM_F_DUMP, payload: [0, 0, 0, 0], through: socket)
            for message in try readDump(from: socket) { _ = table.messageReceived(message) }
        }
        return table
    }

    static func send(
        _ type: UInt16, flags: Int32, payload: [UInt8], through socket: borrowing OwnedFileDescriptor
    ) throws(SystemCallError) {
        var header = nlmsghdr()
        header.nlmsg_len = UInt32(MemoryLayout<nlmsghdr>.size + payload.count)
        header.nlmsg_type = type
        header.nlmsg_flags = UInt16(NLM_F_REQUEST | flags)
        let bytes = withUnsafeBytes(of: &header) { Array($0) } + payload
        guard Glibc.send(socket.rawValue, bytes, bytes.count, 0) == bytes.count else {
            throw SystemCallError("send", subject: "netlink")
        }
    }

    static func readDump(
        from socket: borrowing OwnedFileDescriptor
    ) throws(SystemCallError) -> [RouteMessage] {
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        var answer: [RouteMessage] = []
        while true {
            let count = retryingInterrupted { recv(socket.rawValue, &buffer, buffer.count, 0) }
            guard count > 0 else { throw SystemCallError("recv", subject: "netlink") }
            for message in RouteMessage.messages(in: buffer[..<count]) {
                switch message {
                case .done: return answer
                case .failed(let number): throw SystemCallError("recv", number: number, subject: "netlink")
                default: answer.append(message)
                }
            }
        }
    }
}
