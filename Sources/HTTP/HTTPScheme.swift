/// RFC 9110 section 4.2.
package enum HTTPScheme: String, Sendable {
    case http, https

    package var defaultPort: UInt16 { self == .http ? 80 : 443 }
}
