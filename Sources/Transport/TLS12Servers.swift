import Synchronization

/// The servers that are offered only TLS 1.2, because the normal offer failed. Any thread.
final class TLS12Servers: Sendable {
    /// The list of this process.
    static let met = TLS12Servers()

    /// Servers may redirect the stream to further servers, so the list must be bounded.
    static let limit = 64

    private let endpoints = Mutex<[Endpoint]>([])

    func contains(_ endpoint: Endpoint) -> Bool { endpoints.withLock { $0.contains(endpoint) } }

    /// - Returns: whether the server is new to the list.
    func insert(_ endpoint: Endpoint) -> Bool {
        endpoints.withLock { endpoints in
            guard !endpoints.contains(endpoint) else { return false }
            if endpoints.count == Self.limit { endpoints.removeFirst() }
            endpoints.append(endpoint)
            return true
        }
    }

    func remove(_ endpoint: Endpoint) { endpoints.withLock { $0.removeAll { $0 == endpoint } } }
}
