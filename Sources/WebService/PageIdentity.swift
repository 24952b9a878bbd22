import LinuxIO
import Transport

/// The key and the certificate that the page is served with over HTTPS. They are made once and stay on the state partition.
/// Used from the main thread.
package struct PageIdentity {
    /// File of the state partition.
    private static let fileName = "page-identity"

    private var pem: [UInt8]?
    private var identity: TLSServerIdentity?

    /// - Parameter directory: the state partition's.
    package init(in directory: String) { pem = try? readFile("\(directory)/\(Self.fileName)", limit: 16 * 1024) }

    /// - Parameters:
    ///   - names: those that a new certificate is for.
    ///   - keep: gets the name and the contents of a file for the state partition.
    package mutating func identity(
        for names: Set<String>, keep: (String, [UInt8]) -> Void
    ) throws(TransportError) -> TLSServerIdentity {
        if let identity { return identity }
        // A damaged file is replaced: without it, nobody could open the page.
        if let pem, let kept = try? TLSServerIdentity(pem: pem) {
            identity = kept
            return kept
        }
        let made = try TLSServerIdentity.make(names: names.sorted())
        let identity = try TLSServerIdentity(pem: made)
        keep(Self.fileName, made)
        (pem, self.identity) = (made, identity)
        return identity
    }
}
