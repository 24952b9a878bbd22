/// The link that the stream goes through, or went through last: news of any other is not the stream's.
public struct OwnLink {
    public enum News: Equatable {
        case down
        /// It has a carrier again, and an address.
        case up
        /// An address or a default route has come.
        case routeAppeared
        case addressDisappeared
    }

    /// What is known of the network.
    public protocol Links {
        var linksUp: Set<String> { get }
        func hasAddress(_ link: String) -> Bool
        func link(holding address: SocketAddress) -> String?
    }

    private var name: String?
    /// Of the present connection, while its link has it.
    private var address: SocketAddress?

    public init() {}

    /// A new connection stands. Through loopback there is no link to be watched.
    public mutating func connected(from address: SocketAddress?, _ links: (any Links)?) {
        name = address.flatMap { links?.link(holding: $0) }
        self.address = name == nil ? nil : address
    }

    /// What of `events` matters to the stream, in their order.
    public mutating func news(of events: [LinkEvent], _ links: any Links) -> [News] {
        var news = events.compactMap { self.news(of: $0, links) }
        if let address, links.link(holding: address) == nil {
            self.address = nil
            // First: what else has happened may be the way out.
            news.insert(.addressDisappeared, at: 0)
        }
        return news
    }

    private func news(of event: LinkEvent, _ links: any Links) -> News? {
        switch event {
        case .linkDown(let link): link == name ? .down : nil
        // Before it has an address nothing can be sent through it, and each attempt would be one of few.
        case .linkUp(let link): mayLead(link, links) && links.hasAddress(link) ? .up : nil
        case .addressAdded(let link): mayLead(link, links) ? .routeAppeared : nil
        case .defaultRouteFound: .routeAppeared
        case .defaultRouteLost: nil
        }
    }

    /// Another link matters only while the stream's own is down.
    private func mayLead(_ link: String, _ links: any Links) -> Bool {
        guard let name, link != name else { return true }
        return !links.linksUp.contains(name)
    }
}

extension LinkMonitor: OwnLink.Links {}
