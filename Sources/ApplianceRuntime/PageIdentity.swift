import CardStorage
import LinuxIO
import Media
import PageLogic
import Settings
import Transport

/// The key and the certificate that the page is served with over HTTPS. They are made once and stay on the state partition.
/// Used from the main thread.
struct PageIdentity {
    /// File of the state partition.
    private static let fileName = "page-identity"

    private var pem: [UInt8]?
    private var identity: TLSServerIdentity?

    /// - Parameter directory: the state partition's.
    init(in directory: String) { pem = try? readFile("\(directory)/\(Self.fileName)", limit: 16 * 1024) }

    /// - Parameter names: those that a new certificate is for.
    mutating func identity(
        for names: Set<String>, keptBy card: Card, now: MediaTimestamp
    ) throws(TransportError) -> TLSServerIdentity {
        if let identity { return identity }
        // A damaged file is replaced: without it, nobody could open the page.
        if let pem, let kept = try? TLSServerIdentity(pem: pem) {
            identity = kept
            return kept
        }
        let made = try TLSServerIdentity.make(names: names.sorted())
        let identity = try TLSServerIdentity(pem: made)
        card.write(Self.fileName, made, to: .state, now: now)
        (pem, self.identity) = (made, identity)
        return identity
    }
}

extension PageSetting {
    /// `nil` without a page.
    var scheme: PageScheme? {
        switch self {
        case .off: nil
        case .http: .http
        case .https: .https
        }
    }
}
