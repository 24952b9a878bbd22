import CMbedTLS
import LinuxIO

/// The TLS versions, signature schemes and cipher suites that a client offers (docs/explain/decisions/0015-a-library-that-changed.md).
enum TLSOffer: CaseIterable, Sendable {
    /// TLS 1.3 and 1.2.
    case latest
    /// TLS 1.2 without RSA-PSS, restricted to forward secrecy and authenticated encryption. An attacker who forces a connection
    /// to use it still faces the best that TLS 1.2 has.
    case tls12

    var maximumVersion: mbedtls_ssl_protocol_version {
        switch self {
        case .latest: MBEDTLS_SSL_VERSION_TLS1_3
        case .tls12: MBEDTLS_SSL_VERSION_TLS1_2
        }
    }

    /// In order of preference, terminated by zero (RFC 8446 section 4.2.3).
    var signatureSchemes: UnsafePointer<UInt16> {
        switch self {
        case .latest: UnsafePointer(latestSchemes.pointer)
        case .tls12: UnsafePointer(tls12Schemes.pointer)
        }
    }

    /// Like `signatureSchemes`; `nil` for the library's default.
    var cipherSuites: UnsafePointer<Int32>? {
        switch self {
        case .latest: nil
        case .tls12: UnsafePointer(tls12Suites.pointer)
        }
    }
}

extension TLSOffer {
    /// Why `endpoint` did not get the latest offer.
    static func fallbackReason(_ endpoint: Endpoint) -> String {
        "\(endpoint) speaks TLS 1.2 and signs with RSA-PSS, which Mbed TLS \(MBEDTLS_VERSION_STRING) rejects; "
            + "connected again with TLS 1.2 and PKCS#1 only"
    }
}

private let ecdsaSchemes = [
    MBEDTLS_TLS1_3_SIG_ECDSA_SECP256R1_SHA256, MBEDTLS_TLS1_3_SIG_ECDSA_SECP384R1_SHA384,
    MBEDTLS_TLS1_3_SIG_ECDSA_SECP521R1_SHA512,
]

private let pkcs1Schemes = [
    MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA512, MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA384, MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA256,
]

private let pssSchemes = [
    MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA512, MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA384,
    MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA256,
]

/// PKCS#1 comes before PSS, so that a TLS 1.2 server that follows the client's order picks a signature the library verifies.
/// TLS 1.3 never signs handshakes with PKCS#1 (RFC 8446 section 4.2.3), whatever the order.
private let latestSchemes: SharedPointer<UInt16> = list(ecdsaSchemes + pkcs1Schemes + pssSchemes)

/// Without ECDSA: only servers with an RSA key get this offer.
private let tls12Schemes: SharedPointer<UInt16> = list(pkcs1Schemes)

private let tls12Suites: SharedPointer<Int32> = list([
    MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, MBEDTLS_TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_DHE_RSA_WITH_AES_256_GCM_SHA384, MBEDTLS_TLS_DHE_RSA_WITH_AES_128_GCM_SHA256,
])

/// A zero-terminated list, as Mbed TLS expects it. Never freed, because configurations point to it.
private func list<Number: FixedWidthInteger>(_ numbers: [Int32]) -> SharedPointer<Number> {
    let list = UnsafeMutablePointer<Number>.allocate(capacity: numbers.count + 1)
    for (index, number) in (numbers + [0]).enumerated() { (list + index).initialize(to: Number(number)) }
    return SharedPointer(list)
}
