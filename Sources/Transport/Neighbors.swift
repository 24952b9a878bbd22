import CLinux
import Glibc
import LinuxIO

extension LinkMonitor {
    /// Makes the kernel resolve unknown hardware addresses at once (ARP, IPv6 neighbor discovery).
    ///
    /// The kernel asks once a second, and all traffic to that neighbor waits for the answer. Queries sent while a link was down
    /// are lost, so after the link returns everything waits for the next query. If the entry is deleted, the kernel asks again
    /// as soon as something is sent. This needs CAP_NET_ADMIN; without it, the next query comes by itself.
    public func forgetUnresolvedNeighbors() throws(SystemCallError) {
        let socket = try Self.openSocket(groups: 0)
        // An empty struct ndmsg means all families and all links.
        try Self.send(
            UInt16(RTM_GETNEIGH), flags: NLM_F_DUMP, payload: [UInt8](repeating: 0, count: MemoryLayout<ndmsg>.size),
            through: socket)
        for case .neighbor(let neighbor) in try Self.readDump(from: socket) where neighbor.isUnresolved {
            try Self.forget(neighbor, through: socket)
        }
    }

    private static func forget(
        _ neighbor: RouteMessage.Neighbor, through socket: borrowing OwnedFileDescriptor
    ) throws(SystemCallError) {
        var message = ndmsg()
        message.ndm_family = neighbor.family
        message.ndm_ifindex = neighbor.link
        var attribute = nlattr()
        attribute.nla_len = UInt16(MemoryLayout<nlattr>.size + neighbor.address.count)
        attribute.nla_type = UInt16(NDA_DST)
        let payload = withUnsafeBytes(of: message) { Array($0) } + withUnsafeBytes(of: attribute) { Array($0) }
        try send(UInt16(RTM_DELNEIGH), flags: NLM_F_ACK, payload: payload + neighbor.address, through: socket)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = retryingInterrupted { recv(socket.rawValue, &buffer, buffer.count, 0) }
        guard count > 0 else { throw SystemCallError("recv", subject: "netlink") }
        for case .failed(let number) in RouteMessage.messages(in: buffer[..<count])
        where number != 0 && number != ENOENT {
            throw SystemCallError("RTM_DELNEIGH", number: number, subject: "netlink")
        }
    }
}
