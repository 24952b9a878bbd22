import Glibc
import LinuxIO
import Media
import Testing

@testable import Transport

/// Messages in the kernel's format (rtnetlink(7)), little-endian like both of the product's machines.
private enum Netlink {
    static func message(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 10)
        return little(UInt32(16 + payload.count)) + little(type) + zeros + padded(payload)
    }

    static func link(_ index: Int32, _ name: String, flags: UInt32, type: UInt16 = 16) -> [UInt8] {
        let head: [UInt8] = [0, 0, 0, 0] + little(index) + little(flags) + [0, 0, 0, 0]
        return message(type, head + attribute(3, Array(name.utf8) + [0]))
    }

    static func address(_ index: Int32, _ bytes: [UInt8], scope: UInt8 = 0, flags: UInt8 = 0, type: UInt16 = 20)
        -> [UInt8]
    {
        message(type, [bytes.count == 4 ? 2 : 10, 24, flags, scope] + little(index) + attribute(1, bytes))
    }

    static func route(link: Int32, prefix: UInt8 = 0, table: UInt8 = 254, type: UInt16 = 24) -> [UInt8] {
        message(
            type,
            [2, prefix, 0, 0, table, 3, 0, 1, 0, 0, 0, 0] + attribute(4, little(link)) + attribute(5, [10, 0, 0, 1]))
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        little(UInt16(4 + value.count)) + little(type) + padded(value)
    }

    static func little<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    static func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4) }
}

private let up: UInt32 = 0x1 | 0x40
private let enabledOnly: UInt32 = 0x1

@Suite struct LinkTableTests {
    var table = LinkTable()

    mutating func received(_ bytes: [UInt8]) -> [LinkEvent] {
        RouteMessage.messages(in: bytes[...]).flatMap { table.messageReceived($0) }
    }

    @Test mutating func followsACableBeingUnpluggedAndPluggedIn() {
        #expect(received(Netlink.link(2, "eth0", flags: up)) == [.linkUp("eth0")])
        #expect(received(Netlink.address(2, [10, 0, 0, 7])) == [.addressAdded("eth0")])
        #expect(received(Netlink.route(link: 2)) == [.defaultRouteFound])
        #expect(table.link(holding: [10, 0, 0, 7]) == "eth0")
        #expect(received(Netlink.link(2, "eth0", flags: up)) == [])
        #expect(received(Netlink.link(2, "eth0", flags: enabledOnly)) == [.linkDown("eth0"), .defaultRouteLost])
        // Address and route survive a lost carrier.
        #expect(received(Netlink.link(2, "eth0", flags: up)) == [.linkUp("eth0"), .defaultRouteFound])
    }

    @Test mutating func ownAddressIsTheOnePeopleCanRead() {
        #expect(table.ownAddresses.first == nil)
        _ = received(Netlink.link(2, "eth0", flags: up) + Netlink.link(3, "wlan0", flags: enabledOnly))
        _ = received(Netlink.address(2, [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]))
        #expect(table.ownAddresses.first == "2001:db8::7")
        _ = received(Netlink.address(3, [10, 0, 0, 2]))
        #expect(table.ownAddresses.first == "2001:db8::7", "the other link is down")
        _ = received(Netlink.address(2, [10, 0, 0, 9]) + Netlink.address(2, [10, 0, 0, 7]))
        #expect(table.ownAddresses.first == "10.0.0.7")
        _ = received(Netlink.link(2, "eth0", flags: enabledOnly))
        #expect(table.ownAddresses.first == nil)
    }

    @Test mutating func forgetsTheRoutesOfADisabledLink() {
        _ = received(Netlink.link(2, "eth0", flags: up) + Netlink.route(link: 2))
        #expect(received(Netlink.link(2, "eth0", flags: 0)) == [.linkDown("eth0"), .defaultRouteLost])
        #expect(received(Netlink.link(2, "eth0", flags: up)) == [.linkUp("eth0")])
        #expect(!table.hasDefaultRoute)
    }

    @Test mutating func forgetsAnUnpluggedLink() {
        _ = received(Netlink.link(3, "usb0", flags: up) + Netlink.address(3, [10, 0, 0, 7]) + Netlink.route(link: 3))
        #expect(received(Netlink.link(3, "usb0", flags: 0, type: 17)) == [.linkDown("usb0"), .defaultRouteLost])
        #expect(table.link(holding: [10, 0, 0, 7]) == nil)
    }

    @Test mutating func keepsTheDefaultRouteWhileOneOfTwoLinksIsUp() {
        _ = received(Netlink.link(2, "eth0", flags: up) + Netlink.route(link: 2))
        #expect(received(Netlink.link(3, "wlan0", flags: up) + Netlink.route(link: 3)) == [.linkUp("wlan0")])
        #expect(received(Netlink.link(2, "eth0", flags: enabledOnly)) == [.linkDown("eth0")])
        #expect(received(Netlink.route(link: 3, type: 25)) == [.defaultRouteLost])
    }

    @Test mutating func ignoresIrrelevantMessages() {
        #expect(received(Netlink.link(1, "lo", flags: up | 0x8)) == [])
        #expect(received(Netlink.address(1, [127, 0, 0, 1])) == [])
        #expect(received(Netlink.route(link: 1, prefix: 8)) == [])
        #expect(received(Netlink.route(link: 1, table: 255)) == [])
        _ = received(Netlink.link(2, "eth0", flags: up))
        let linkLocal: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 1, count: 14)
        #expect(received(Netlink.address(2, linkLocal, scope: 253)) == [])
        let global: [UInt8] = [0x20, 1] + [UInt8](repeating: 1, count: 14)
        // First tentative, then checked for duplicates.
        #expect(received(Netlink.address(2, global, flags: 0x40)) == [])
        #expect(received(Netlink.address(2, global)) == [.addressAdded("eth0")])
        #expect(received(Netlink.message(99, [1, 2, 3, 4])) == [])
    }

    @Test func survivesMessagesTruncatedAnywhere() {
        let bytes = Netlink.link(2, "eth0", flags: up) + Netlink.address(2, [10, 0, 0, 7]) + Netlink.route(link: 2)
        for count in 0..<bytes.count {
            #expect(RouteMessage.messages(in: bytes[..<count]).count <= 2)
            // Also damage the byte there, which may be a length.
            var damaged = bytes
            damaged[count] ^= 0xff
            _ = RouteMessage.messages(in: damaged[...])
        }
        #expect(RouteMessage.messages(in: bytes[...]).count == 3)
        // A slice that does not start at index 0.
        #expect(RouteMessage.messages(in: ([9, 9, 9] + bytes)[3...]).count == 3)
    }
}

/// The board's network, and the part of it that concerns the stream.
@Suite struct OwnLinkTests {
    struct Board: OwnLink.Links {
        var linksUp: Set<String> = ["eth0", "wlan0"]
        var addresses = ["10.0.0.7:0": "wlan0", "192.0.2.7:0": "eth0"]

        func hasAddress(_ link: String) -> Bool { addresses.values.contains(link) }
        func link(holding address: SocketAddress) -> String? { addresses["\(address)"] }
    }

    var board = Board()
    var link = OwnLink()

    init() { link.connected(from: SocketAddress(numericHost: "10.0.0.7", port: 0), board) }

    mutating func news(_ events: LinkEvent...) -> [OwnLink.News] { link.news(of: events, board) }

    @Test mutating func anotherLinkDoesNotMatterWhileTheOwnLinkIsUp() {
        board.linksUp = ["wlan0"]
        #expect(news(.linkDown("eth0"), .linkUp("eth0"), .addressAdded("eth0")) == [])
        #expect(news(.linkDown("wlan0")) == [.down])
        #expect(news(.linkUp("wlan0")) == [.up])
    }

    @Test mutating func anotherLinkMattersWhileTheOwnLinkIsDown() {
        board.linksUp = ["eth0"]
        #expect(news(.linkDown("wlan0"), .linkUp("eth0")) == [.down, .up])
        board.addresses = ["10.0.0.7:0": "wlan0"]
        #expect(news(.linkUp("eth0"), .addressAdded("eth0")) == [.routeAppeared])
    }

    @Test mutating func linkIsBackOnlyOnceItHasAnAddress() {
        board.addresses = [:]
        #expect(news(.linkDown("wlan0"), .defaultRouteLost) == [.addressDisappeared, .down])
        #expect(news(.linkUp("wlan0")) == [])
        board.addresses = ["10.0.0.9:0": "wlan0"]
        #expect(news(.addressAdded("wlan0"), .defaultRouteFound) == [.routeAppeared, .routeAppeared])
        // It is reported only once.
        #expect(news() == [])
    }

    @Test mutating func loopbackConnectionIgnoresLinks() {
        link.connected(from: SocketAddress(numericHost: "127.0.0.1", port: 0), board)
        #expect(news(.linkDown("eth0"), .linkDown("wlan0")) == [])
        #expect(news(.linkUp("eth0")) == [.up])
    }
}

@Suite struct LinkMonitorTests {
    @Test func reportsRealKernelEvents() throws {
        let found = try inNetworkNamespace { () -> [[LinkEvent]] in
            try shell("ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up")
            try shell("ip addr add 192.0.2.1/24 dev v0; ip route add default via 192.0.2.2")
            let monitor = try LinkMonitor()
            var steps: [[LinkEvent]] = []
            _ = try events(of: monitor) { monitor.hasDefaultRoute && monitor.linksUp == ["v0", "v1"] }

            /// Runs a command and waits for the last expected event.
            func step(_ command: String, until last: LinkEvent) throws {
                try shell(command)
                var events: [LinkEvent] = []
                while !events.contains(last) {
                    var entries = [PollEntry(monitor.fileDescriptor)]
                    try poll(&entries, until: nil)
                    events += try monitor.takeEvents()
                }
                steps.append(events)
            }
            // The other end loses its carrier too.
            try step("ip link set v1 down", until: .defaultRouteLost)
            try step("ip link set v1 up", until: .defaultRouteFound)
            try step("ip addr add 198.51.100.1/24 dev v1", until: .addressAdded("v1"))
            try step("ip route del default", until: .defaultRouteLost)
            try step("ip link del v0", until: .linkDown("v1"))
            return steps
        }
        try #require(found.count == 5)
        #expect(Set(found[0]) == [.linkDown("v0"), .linkDown("v1"), .defaultRouteLost])
        #expect(Set(found[1]) == [.linkUp("v0"), .linkUp("v1"), .defaultRouteFound])
        #expect(found[2] == [.addressAdded("v1")])
        #expect(found[3] == [.defaultRouteLost])
        #expect(Set(found[4]) == [.linkDown("v0"), .linkDown("v1")])
    }

    @Test func findsTheLinkOfAConnection() throws {
        let link = try inNetworkNamespace { () -> String? in
            try shell("ip link add v0 type veth peer name v1; ip link set v0 up; ip addr add 192.0.2.1/24 dev v0")
            let listener = try TCPListener(Endpoint(host: "192.0.2.1", port: 0))
            let client = try Connector.connect(to: Endpoint(host: "192.0.2.1", port: listener.port))
            guard let address = (client as? TCPConnection)?.localAddress else { return nil }
            return try LinkMonitor().link(holding: address)
        }
        #expect(link == "v0")
    }

    @Test func forgetsNeighborsThatDoNotAnswer() throws {
        let (before, after) = try inNetworkNamespace { () -> ([String], [String]) in
            try shell("ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up")
            try shell("ip addr add 192.0.2.1/24 dev v0")
            try shell("ip neigh add 192.0.2.8 lladdr 02:00:00:00:00:08 dev v0 nud permanent")
            // There is no such host; the kernel asks three times, once a second.
            _ = try? Connector.connect(
                to: Endpoint(host: "192.0.2.9", port: 1), timeouts: ConnectionTimeouts(connect: .milliseconds(100)))
            let monitor = try LinkMonitor()
            let before = try neighbors()
            try monitor.forgetUnresolvedNeighbors()
            let after = try neighbors()
            try monitor.forgetUnresolvedNeighbors()
            return (before, after)
        }
        // FAILED once the kernel has given up, after 3 s.
        #expect(before.first == "192.0.2.8 PERMANENT")
        #expect(["192.0.2.9 INCOMPLETE", "192.0.2.9 FAILED"].contains(before.last))
        #expect(after.first == "192.0.2.8 PERMANENT")
        #expect(!after.contains("192.0.2.9 INCOMPLETE"))
    }

    /// Address and state of each.
    private func neighbors() throws -> [String] {
        let listing = try ChildProcess(["ip", "neigh", "show", "dev", "v0"], capturesOutput: true)
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while read(listing.output, &byte, 1) == 1 { text.append(byte) }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("fe80") }
            .map { $0.split(separator: " ") }.map { "\($0[0]) \($0[$0.count - 1])" }.sorted()
    }

    @Test func looksAfreshWhenItWasTooSlow() throws {
        let (found, linksUp) = try inNetworkNamespace { () -> ([LinkEvent], Set<String>) in
            try shell("ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up")
            let monitor = try LinkMonitor()
            _ = try events(of: monitor) { monitor.linksUp == ["v0", "v1"] }
            // Far more than the socket holds; what it holds ends somewhere in the middle.
            try shell(
                "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo link set v1 down; echo link set v1 up; done | "
                    + "ip -batch -; ip addr add 192.0.2.1/24 dev v0; ip link set v1 down")
            return (try events(of: monitor) { monitor.linksUp.isEmpty }, monitor.linksUp)
        }
        #expect(linksUp == [])
        #expect(Set(found) == [.linkDown("v0"), .linkDown("v1"), .addressAdded("v0")])
        #expect(found.count == 3)
    }

    @Test func manyMessagesAreTakenInSeveralCalls() throws {
        let (first, count) = try inNetworkNamespace { () -> (Int, Int) in
            try shell("ip link add v0 type veth peer name v1")
            let monitor = try LinkMonitor()
            // One message each, since the link is down; the socket holds more of them.
            try shell("i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo addr add 10.0.$i.1/24 dev v0; done | ip -batch -")
            let first = try monitor.takeEvents().count
            var count = first
            var entries = [PollEntry(monitor.fileDescriptor)]
            while try poll(&entries, until: .zero) > 0 { count += try monitor.takeEvents().count }
            return (first, count)
        }
        #expect(first < 100 && count == 100)
    }

    /// What happens until something holds; the kernel tells of carriers a moment later.
    private func events(of monitor: LinkMonitor, until holds: () -> Bool) throws -> [LinkEvent] {
        let limit = MonotonicClock.now() + .seconds(60)
        var events = try monitor.takeEvents()
        while !holds(), MonotonicClock.now() < limit {
            var entries = [PollEntry(monitor.fileDescriptor)]
            try poll(&entries, until: limit)
            events += try monitor.takeEvents()
        }
        return events
    }
}
