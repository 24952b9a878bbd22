import Synchronization

/// The servers that are offered TLS 1.2 only, since nothing else worked with them. Used from any thread.
final class TLS12Servers: Sendable {
    /// Those that this process has met.
    static let met = TLS12Servers()

    /// Servers may ask the stream to move to further ones, so the list needs a bound.
    static let limit = 64

    private let endpoints = Mutex<[Endpoint]>([])

    func contains(_ endpoint: Endpoint) -> Bool { endpoints.withLock { $0.contains(endpoint) } }

    /// - Returns: whether it was not known before.
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
