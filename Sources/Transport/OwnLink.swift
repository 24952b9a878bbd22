/// The link that the stream uses or used last. Events of other links do not concern the stream.
public struct OwnLink {
    public enum News: Equatable {
        case down
        /// The link has a carrier and an address again.
        case up
        /// An address or a default route appeared.
        case routeAppeared
        case addressDisappeared
    }

    /// The known state of the network.
    public protocol Links {
        var linksUp: Set<String> { get }
        func hasAddress(_ link: String) -> Bool
        func link(holding address: SocketAddress) -> String?
    }

    private var name: String?
    /// Local address of the current connection, while its link has that address.
    private var address: SocketAddress?

    public init() {}

    /// Reports a new connection. A connection through loopback has no link to watch.
    public mutating func connected(from address: SocketAddress?, _ links: (any Links)?) {
        name = address.flatMap { links?.link(holding: $0) }
        self.address = name == nil ? nil : address
    }

    /// The events that matter to the stream, in order.
    public mutating func news(of events: [LinkEvent], _ links: any Links) -> [News] {
        var news = events.compactMap { self.news(of: $0, links) }
        if let address, links.link(holding: address) == nil {
            self.address = nil
            // Goes first, because a later event may be the remedy.
            news.insert(.addressDisappeared, at: 0)
        }
        return news
    }

    private func news(of event: LinkEvent, _ links: any Links) -> News? {
        switch event {
        case .linkDown(let link): link == name ? .down : nil
        // A link without an address cannot send, and every attempt would use up one of few.
        case .linkUp(let link): mayLead(link, links) && links.hasAddress(link) ? .up : nil
        case .addressAdded(let link): mayLead(link, links) ? .routeAppeared : nil
        case .defaultRouteFound: .routeAppeared
        case .defaultRouteLost: nil
        }
    }

    /// Another link matters only while the stream's own link is down.
    private func mayLead(_ link: String, _ links: any Links) -> Bool {
        guard let name, link != name else { return true }
        return !links.linksUp.contains(name)
    }
}

extension LinkMonitor: OwnLink.Links {}
