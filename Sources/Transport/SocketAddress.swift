import CLinux
import Glibc
import LinuxIO

/// An IPv4 or IPv6 address with a port, as the socket calls take it.
public struct SocketAddress: Sendable {
    public enum Family: Hashable, Sendable {
        case ipv4
        case ipv6

        var rawValue: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
    }

    public let family: Family
    private var storage: sockaddr_storage
    private var length: socklen_t

    /// Copies an address; `nil` unless it is IPv4 or IPv6.
    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET where Int(length) >= MemoryLayout<sockaddr_in>.size: family = .ipv4
        case AF_INET6 where Int(length) >= MemoryLayout<sockaddr_in6>.size: family = .ipv6
        default: return nil
        }
        guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        storage = sockaddr_storage()
        self.length = length
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
    }

    /// Parses a numeric address; `nil` if `host` is a name. IPv6 may have a zone: `fe80::1%eth0`.
    public init?(numericHost host: String, port: UInt16) {
        guard case .success(let addresses) = SocketAddress.lookUp(host, port: port, flags: AI_NUMERICHOST),
            let address = addresses.first
        else { return nil }
        self = address
    }

    func withSocketAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Calls one of getsockname, getpeername, accept.
    static func receive(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (result: Int32, address: SocketAddress?) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let result = call(pointer, &length)
                return (result, result < 0 ? nil : SocketAddress(pointer, length: length))
            }
        }
    }

    /// The numeric address, without the port.
    public var host: String { text.host }
    public var port: UInt16 { UInt16(text.port) ?? 0 }

    /// The bare address, 4 or 16 bytes.
    var bytes: [UInt8] {
        withUnsafeBytes(of: storage) { raw in
            switch family {
            case .ipv4: Array(raw[4..<8])
            case .ipv6: Array(raw[8..<24])
            }
        }
    }

    private var text: (host: String, port: String) {
        // The zone name after an IPv6 address has at most 16 bytes.
        var host = [CChar](repeating: 0, count: 80)
        var port = [CChar](repeating: 0, count: 16)
        let flags = NI_NUMERICHOST | NI_NUMERICSERV
        let number = withSocketAddress { address, length in
            getnameinfo(address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), flags)
        }
        guard number == 0 else { return ("?", "0") }
        func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
            String(decoding: UnsafeRawBufferPointer(characters).prefix { $0 != 0 }, as: UTF8.self)
        }
        return (host.withUnsafeBufferPointer(text), port.withUnsafeBufferPointer(text))
    }
}

extension SocketAddress: CustomStringConvertible {
    public var description: String {
        let (host, port) = text
        return family == .ipv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Why a name has no addresses.
struct NameLookupFailure: Error {
    let reason: String
    /// Whether the name server answered that there is no address, as opposed to not answering.
    var isAnswer = false
}

extension SocketAddress {
    /// Calls getaddrinfo, which blocks until the name servers answer or time out.
    /// - Parameter flags: `AI_NUMERICHOST` never blocks; `AI_PASSIVE` is for listening.
    static func lookUp(
        _ host: String, port: UInt16, family: Family? = nil, flags: Int32 = 0
    ) -> Result<[SocketAddress], NameLookupFailure> {
        _ = builtInSources
        var hints = addrinfo()
        hints.ai_family = family?.rawValue ?? AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let number = getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &list)
        guard number == 0 else {
            let text = clinux_lookup_error_text(number).map { String(cString: $0) } ?? "error \(number)"
            let reason = number == EAI_SYSTEM ? SystemCallError.reason(of: errno) : text
            // EAI_NODATA is hidden by a feature macro: the name exists but has no address of this family.
            let isAnswer = number == EAI_NONAME || number == -5
            return .failure(NameLookupFailure(reason: reason, isAnswer: isAnswer))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0, length: entry.pointee.ai_addrlen) }) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return .success(addresses)
    }

    /// A static binary must not load the plug-ins that a desktop's nsswitch.conf names, because they pull in a second C
    /// library. /etc/hosts and DNS are built in.
    private static let builtInSources: Int32 = clinux_configure_lookup("hosts", "files dns")
}
