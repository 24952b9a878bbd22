import Glibc

/// A change of the network, by link name. Loopback is ignored.
public enum LinkEvent: Hashable, Sendable {
    /// The link has a carrier.
    case linkUp(String)
    /// The link has lost its carrier, was switched off or unplugged.
    case linkDown(String)
    /// The link has a usable address.
    case addressAdded(String)
    /// A default route exists.
    case defaultRouteFound
    case defaultRouteLost
}

/// The network as reported by the kernel; computes what changed.
struct LinkTable {
    private var links: [Int32: RouteMessage.Link] = [:]
    private var addresses: Set<RouteMessage.Address> = []
    private var routes: Set<RouteMessage.DefaultRoute> = []

    /// Whether a default route uses a link that is up.
    var hasDefaultRoute: Bool {
        routes.contains { route in route.link == 0 || links[route.link]?.isUp == true }
    }

    /// The names of the links that are up, without loopback.
    var linksUp: Set<String> { Set(links.values.filter { $0.isUp && !$0.isLoopback }.map(\.name)) }

    /// The name of the link that owns the address; `nil` if none does.
    func link(holding address: [UInt8]) -> String? {
        addresses.first { $0.bytes == address }.flatMap { links[$0.link]?.name }
    }

    /// The addresses of links that are up and not loopback. IPv4 comes first, because people can read it.
    var ownAddresses: [String] {
        let own = addresses.filter { address in
            guard let link = links[address.link] else { return false }
            return link.isUp && !link.isLoopback
        }
        let sorted = own.map(\.bytes).sorted { (one: [UInt8], other: [UInt8]) in
            one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
        }
        return sorted.compactMap(Self.text)
    }

    /// In the notation of inet_ntop(3).
    private static func text(of address: [UInt8]) -> String? {
        guard address.count != 4 else { return address.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isWritten = address.withUnsafeBytes { bytes in
            inet_ntop(AF_INET6, bytes.baseAddress, &text, socklen_t(text.count)) != nil
        }
        return isWritten ? String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    func hasAddress(_ name: String) -> Bool { addresses.contains { links[$0.link]?.name == name } }

    mutating func messageReceived(_ message: RouteMessage) -> [LinkEvent] {
        let before = self
        apply(message)
        return changes(since: before)
    }

    /// The events that turn an earlier table into this one.
    func changes(since before: LinkTable) -> [LinkEvent] {
        var events: [LinkEvent] = []
        events += before.linksUp.subtracting(linksUp).sorted().map { .linkDown($0) }
        if before.hasDefaultRoute, !hasDefaultRoute { events.append(.defaultRouteLost) }
        events += linksUp.subtracting(before.linksUp).sorted().map { .linkUp($0) }
        let reached = Set(addresses.subtracting(before.addresses).map(\.link))
        events += reached.compactMap { links[$0] }.filter { !$0.isLoopback }.map(\.name).sorted()
            .map { .addressAdded($0) }
        if !before.hasDefaultRoute, hasDefaultRoute { events.append(.defaultRouteFound) }
        return events
    }

    private mutating func apply(_ message: RouteMessage) {
        switch message {
        case .linkChanged(let link):
            links[link.index] = link
            // The kernel does not report the IPv4 routes that disappear when a link is switched off.
            if !link.isEnabled { forgetRoutes(of: link.index) }
        case .linkRemoved(let index):
            links[index] = nil
            addresses = addresses.filter { $0.link != index }
            forgetRoutes(of: index)
        case .addressAdded(let address): addresses.insert(address)
        case .addressRemoved(let address): addresses.remove(address)
        case .routeAdded(let route): routes.insert(route)
        case .routeRemoved(let route): routes.remove(route)
        case .neighbor, .done, .failed: break
        }
    }

    private mutating func forgetRoutes(of link: Int32) {
        routes = routes.filter { $0.link != link }
    }
}
