import Glibc
import LinuxIO
import Synchronization

/// A name server on 127.0.0.1:53 of the calling thread's network namespace, which its
/// resolver is pointed to (RFC 1035 section 4).
final class NameServer {
    enum Reply: Sendable {
        case ipv4([[UInt8]])
        case ipv6([[UInt8]])
        case noSuchName
        case silence
    }

    private let stop: EventFD

    /// - Parameters:
    ///   - others: name servers that are asked before this one.
    ///   - reply: to a name and a family.
    init(
        behind others: [String] = [], _ reply: @escaping @Sendable (_ name: String, _ wantsIPv6: Bool) -> Reply
    ) throws {
        let lines = (others + ["127.0.0.1"]).map { "nameserver \($0)\\n" }.joined()
        try shell(
            """
            directory=$(mktemp -d); printf '\(lines)' > $directory/resolv.conf
            mount --bind $directory/resolv.conf /etc/resolv.conf; rm -r $directory
            """)
        let descriptor = OwnedFileDescriptor(adopting: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else { throw SystemCallError("bind") }
        let stop = try EventFD()
        self.stop = stop
        let socket = descriptor.release()
        let serve: @Sendable () -> Void = {
            let owner = OwnedFileDescriptor(adopting: socket)
            var waits: PollSet = ["socket": socket, "stop": stop.fileDescriptor]
            while (try? waits.wait()) != nil, !waits.isReady("stop") {
                Self.answer(owner.rawValue, reply)
            }
        }
        _ = try NamedThread("name server", serve)
    }

    deinit { stop.signal() }

    private static func answer(_ socket: Int32, _ reply: (String, Bool) -> Reply) {
        var query = [UInt8](repeating: 0, count: 512)
        var from = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(socket, &query, query.count, 0, $0, &length)
            }
        }
        guard count > 16, let message = message(for: Array(query[..<count]), reply) else { return }
        _ = withUnsafePointer(to: &from) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, message, message.count, 0, $0, length)
            }
        }
    }

    private static func message(for query: [UInt8], _ reply: (String, Bool) -> Reply) -> [UInt8]? {
        var labels: [String] = []
        var position = 12
        while query[position] != 0 {
            let end = position + 1 + Int(query[position])
            labels.append(String(decoding: query[(position + 1)..<end], as: UTF8.self))
            position = end
        }
        let type = query[position + 2]
        let question = query[12..<(position + 5)]
        let addresses: [[UInt8]]
        var status: UInt8 = 0
        switch reply(labels.joined(separator: "."), type == 28) {
        case .silence: return nil
        case .noSuchName: (addresses, status) = ([], 3)
        case .ipv4(let found), .ipv6(let found): addresses = found
        }
        var message = query[..<2] + [0x81, 0x80 | status, 0, 1, 0, UInt8(addresses.count), 0, 0, 0, 0] + question
        for address in addresses {
            message += [0xc0, 12, 0, address.count == 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, UInt8(address.count)] + address
        }
        return Array(message)
    }
}
