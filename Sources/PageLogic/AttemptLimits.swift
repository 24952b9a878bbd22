import Media

/// Limits what an address may attempt without a key. Used for requests to be paired and for wrong keys.
package struct AttemptLimits: Sendable {
    /// Attempts that an address may make in a row, and how long one takes to be forgotten.
    package static let attempts = 5
    package static let interval = Duration.seconds(60)
    /// Addresses that are remembered. More of them attempt something only if someone changes addresses on purpose; then all
    /// others wait together.
    package static let addressLimit = 64

    /// When each address would again have all its attempts.
    private var addresses: [String: MediaTimestamp] = [:]

    package init() {}

    /// - Returns: `nil` if the attempt is allowed, and counts it; otherwise how long to wait.
    package mutating func attempted(from address: String, now: MediaTimestamp) -> Duration? {
        addresses = addresses.filter { now < $0.value }
        let isFull = addresses.count >= Self.addressLimit
        // The name of no address.
        let key = addresses[address] == nil && isFull ? "" : address
        let whole = max(addresses[key] ?? now, now)
        let wait = whole - now - Self.interval * (Self.attempts - 1)
        guard wait <= .zero else { return wait }
        addresses[key] = whole + Self.interval
        return nil
    }
}
