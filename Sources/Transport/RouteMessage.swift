import CLinux
import Glibc

/// A message of the kernel about links, addresses or default routes (rtnetlink(7)).
enum RouteMessage: Hashable, Sendable {
    struct Link: Hashable, Sendable {
        var index: Int32
        var name: String
        /// Administratively switched on.
        var isEnabled: Bool
        /// Switched on and running: the cable is in, or the Wi-Fi is associated.
        var isUp: Bool
        var isLoopback: Bool
    }

    /// A usable address that reaches beyond its own link.
    struct Address: Hashable, Sendable {
        var link: Int32
        /// 4 or 16 bytes.
        var bytes: [UInt8]
    }

    /// A route to everywhere. Routes that agree in all these fields count as one.
    struct DefaultRoute: Hashable, Sendable {
        var family: UInt8
        /// 0 if several links share one route.
        var link: Int32
        var gateway: [UInt8]
        var priority: UInt32
    }

    /// Another machine on a link, from the kernel's neighbor table.
    struct Neighbor: Hashable, Sendable {
        var family: UInt8
        var link: Int32
        /// 4 or 16 bytes.
        var address: [UInt8]
        /// NUD_INCOMPLETE and so on.
        var state: UInt16

        /// The kernel has asked and got no answer.
        var isUnresolved: Bool { Int32(state) & (NUD_INCOMPLETE | NUD_FAILED) != 0 }
    }

    case linkChanged(Link)
    case linkRemoved(index: Int32)
    case addressAdded(Address)
    case addressRemoved(Address)
    case routeAdded(DefaultRoute)
    case routeRemoved(DefaultRoute)
    case neighbor(Neighbor)
    /// The end of a reply.
    case done
    case failed(errorNumber: Int32)
}

/// Bytes in host byte order, as netlink uses it. Every read is bounds-checked.
private struct NetlinkBytes {
    let bytes: ArraySlice<UInt8>

    func load<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset + MemoryLayout<Value>.size <= bytes.count else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// At most `count` bytes from `offset` on.
    func part(from offset: Int, count: Int = .max) -> NetlinkBytes {
        NetlinkBytes(bytes: bytes.dropFirst(offset).prefix(count))
    }

    /// Attributes by type, the last of each (NLA_TYPE_MASK removes the flags).
    var attributes: [UInt16: NetlinkBytes] {
        var found: [UInt16: NetlinkBytes] = [:]
        var rest = self
        while let length = rest.load(UInt16.self, at: 0), let type = rest.load(UInt16.self, at: 2),
            length >= 4, Int(length) <= rest.bytes.count
        {
            found[type & 0x3fff] = rest.part(from: 4, count: Int(length) - 4)
            rest = rest.part(from: (Int(length) + 3) & ~3)
        }
        return found
    }
}

extension RouteMessage {
    /// Parses the result of one `recv` on a netlink socket. Skips truncated and irrelevant messages.
    static func messages(in received: ArraySlice<UInt8>) -> [RouteMessage] {
        var messages: [RouteMessage] = []
        var rest = NetlinkBytes(bytes: received)
        while let length = rest.load(UInt32.self, at: 0), let type = rest.load(UInt16.self, at: 4),
            length >= 16, Int(length) <= rest.bytes.count
        {
            let payload = rest.part(from: 16, count: Int(length) - 16)
            if let message = message(type: Int(type), payload) { messages.append(message) }
            rest = rest.part(from: (Int(length) + 3) & ~3)
        }
        return messages
    }

    private static func message(type: Int, _ payload: NetlinkBytes) -> RouteMessage? {
        switch type {
        case Int(NLMSG_DONE): .done
        case Int(NLMSG_ERROR): payload.load(Int32.self, at: 0).map { .failed(errorNumber: 0 &- $0) }
        case Int(RTM_NEWLINK): link(payload).map { .linkChanged($0) }
        case Int(RTM_DELLINK): payload.load(Int32.self, at: 4).map { .linkRemoved(index: $0) }
        case Int(RTM_NEWADDR): address(payload, mustBeUsable: true).map { .addressAdded($0) }
        case Int(RTM_DELADDR): address(payload, mustBeUsable: false).map { .addressRemoved($0) }
        case Int(RTM_NEWROUTE): defaultRoute(payload).map { .routeAdded($0) }
        case Int(RTM_DELROUTE): defaultRoute(payload).map { .routeRemoved($0) }
        case Int(RTM_NEWNEIGH): neighbor(payload).map { .neighbor($0) }
        default: nil
        }
    }

    /// Reads a `struct ifinfomsg` and its attributes.
    private static func link(_ payload: NetlinkBytes) -> Link? {
        guard let index = payload.load(Int32.self, at: 4), let flags = payload.load(UInt32.self, at: 8) else {
            return nil
        }
        let name = payload.part(from: 16).attributes[UInt16(IFLA_IFNAME)]?.bytes ?? []
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        // "Running" means more than a carrier: a Wi-Fi link must be associated too.
        return Link(
            index: index, name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self),
            isEnabled: has(IFF_UP), isUp: has(IFF_UP) && has(IFF_RUNNING),
            isLoopback: has(IFF_LOOPBACK))
    }

    /// Reads a `struct ifaddrmsg` and its attributes; `nil` for a link-local address.
    /// - Parameter mustBeUsable: whether to ignore an address that is still being checked for duplicates.
    private static func address(_ payload: NetlinkBytes, mustBeUsable: Bool) -> Address? {
        guard let flags = payload.load(UInt8.self, at: 2), let scope = payload.load(UInt8.self, at: 3),
            let index = payload.load(Int32.self, at: 4), Int(scope) < Int(RT_SCOPE_LINK.rawValue)
        else { return nil }
        let attributes = payload.part(from: 8).attributes
        let allFlags = attributes[UInt16(IFA_FLAGS)]?.load(UInt32.self, at: 0) ?? UInt32(flags)
        // On a point-to-point link, IFA_ADDRESS is the peer's address; an IPv6 address has no IFA_LOCAL.
        guard let bytes = (attributes[UInt16(IFA_LOCAL)] ?? attributes[UInt16(IFA_ADDRESS)])?.bytes,
            bytes.count == 4 || bytes.count == 16,
            !mustBeUsable || allFlags & UInt32(IFA_F_TENTATIVE | IFA_F_DADFAILED) == 0
        else { return nil }
        return Address(link: index, bytes: Array(bytes))
    }

    /// Reads a `struct ndmsg` and its attributes.
    private static func neighbor(_ payload: NetlinkBytes) -> Neighbor? {
        guard let family = payload.load(UInt8.self, at: 0), let index = payload.load(Int32.self, at: 4),
            let state = payload.load(UInt16.self, at: 8),
            let address = payload.part(from: 12).attributes[UInt16(NDA_DST)]?.bytes,
            address.count == 4 || address.count == 16
        else { return nil }
        return Neighbor(family: family, link: index, address: Array(address), state: state)
    }

    /// Reads a `struct rtmsg` and its attributes; `nil` for anything but a default route.
    private static func defaultRoute(_ payload: NetlinkBytes) -> DefaultRoute? {
        guard let family = payload.load(UInt8.self, at: 0), let prefix = payload.load(UInt8.self, at: 1),
            let table = payload.load(UInt8.self, at: 4), let type = payload.load(UInt8.self, at: 7),
            prefix == 0, table == UInt8(RT_TABLE_MAIN.rawValue), Int(type) == Int(RTN_UNICAST)
        else { return nil }
        let attributes = payload.part(from: 12).attributes
        return DefaultRoute(
            family: family, link: attributes[UInt16(RTA_OIF.rawValue)]?.load(Int32.self, at: 0) ?? 0,
            gateway: Array(attributes[UInt16(RTA_GATEWAY.rawValue)]?.bytes ?? []),
            priority: attributes[UInt16(RTA_PRIORITY.rawValue)]?.load(UInt32.self, at: 0) ?? 0)
    }
}
