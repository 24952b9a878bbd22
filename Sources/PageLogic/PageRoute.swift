import HTTP

/// Who may use a route.
package enum PageRight: Hashable, Sendable {
    /// Also a browser that is not paired.
    case everyone
    case pairedBrowser
}

/// What a request asks for.
package enum PagePurpose: Hashable, Sendable {
    /// A file of the page itself.
    case asset
    case beginPairing
    case lookAtPairing
    /// The status for browsers without JavaScript.
    case plainStatus
    /// A command of the console, with the JSON form of its answer.
    case command(String)
    /// The command that the body names.
    case givenCommand
    case listFiles
    case readFile
    case writeFile
    case listRecordings
    case readRecording
    case listKeys
    case revokeKey
    case metrics
    case support
    case eventSocket
    case previewSocket
}

/// A row of the table of routes. There is no row without a right.
package struct PageRoute: Hashable, Sendable {
    package let method: HTTPMethod
    /// `*` stands for one last segment, the argument.
    package let path: String
    package let right: PageRight
    package let purpose: PagePurpose

    private init(_ method: HTTPMethod, _ path: String, for right: PageRight, _ purpose: PagePurpose) {
        self.method = method
        self.path = path
        self.right = right
        self.purpose = purpose
    }

    package static let all: [PageRoute] = [
        PageRoute(.get, "/", for: .everyone, .asset),
        PageRoute(.get, "/*", for: .everyone, .asset),
        PageRoute(.post, "/api/v1/pairing", for: .everyone, .beginPairing),
        PageRoute(.get, "/api/v1/pairing", for: .everyone, .lookAtPairing),
        PageRoute(.get, "/status", for: .pairedBrowser, .plainStatus),
        PageRoute(.get, "/metrics", for: .pairedBrowser, .metrics),
        PageRoute(.get, "/api/v1/status", for: .pairedBrowser, .command("status json")),
        PageRoute(.get, "/api/v1/controls", for: .pairedBrowser, .command("controls json")),
        PageRoute(.get, "/api/v1/cameras", for: .pairedBrowser, .command("cameras json")),
        PageRoute(.get, "/api/v1/microphones", for: .pairedBrowser, .command("microphones json")),
        PageRoute(.get, "/api/v1/support", for: .pairedBrowser, .support),
        PageRoute(.get, "/api/v1/wifi", for: .pairedBrowser, .command("wifi search json")),
        PageRoute(.get, "/api/v1/faults", for: .pairedBrowser, .command("faults")),
        PageRoute(.get, "/api/v1/events", for: .pairedBrowser, .command("events 50")),
        PageRoute(.post, "/api/v1/start", for: .pairedBrowser, .command("start")),
        PageRoute(.post, "/api/v1/stop", for: .pairedBrowser, .command("stop")),
        PageRoute(.post, "/api/v1/commands", for: .pairedBrowser, .givenCommand),
        PageRoute(.get, "/api/v1/files", for: .pairedBrowser, .listFiles),
        PageRoute(.get, "/api/v1/files/*", for: .pairedBrowser, .readFile),
        PageRoute(.put, "/api/v1/files/*", for: .pairedBrowser, .writeFile),
        PageRoute(.get, "/api/v1/recordings", for: .pairedBrowser, .listRecordings),
        PageRoute(.get, "/api/v1/recordings/*", for: .pairedBrowser, .readRecording),
        PageRoute(.get, "/api/v1/keys", for: .pairedBrowser, .listKeys),
        PageRoute(.delete, "/api/v1/keys/*", for: .pairedBrowser, .revokeKey),
        PageRoute(.get, "/api/v1/snapshot", for: .pairedBrowser, .command("snapshot send 80")),
        PageRoute(.get, "/api/v1/events/live", for: .pairedBrowser, .eventSocket),
        PageRoute(.get, "/api/v1/preview", for: .pairedBrowser, .previewSocket),
    ]

    /// - Returns: the routes of a request's path, one for each method; exact paths before `*`.
    static func routes(to segments: [String]) -> [PageRoute] {
        let exact = all.filter { $0.segments == segments }
        return exact.isEmpty ? all.filter { $0.takes(segments) } : exact
    }

    private var segments: [String] { path.split(separator: "/").map(String.init) }

    private func takes(_ segments: [String]) -> Bool {
        let own = self.segments
        guard own.last == "*", own.count == segments.count, segments.last?.isEmpty == false else { return false }
        return own.dropLast() == segments.dropLast()
    }

    package var isWebSocket: Bool { purpose == .eventSocket || purpose == .previewSocket }
}
