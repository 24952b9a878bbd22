import CMbedTLS
import LinuxIO

/// A server's key and its certificate, which it signed itself. All its connections share one.
///
/// Any thread: nothing here changes after `init`, and Mbed TLS locks what it stores with a key.
public final class TLSServerIdentity: Sendable {
    private let sharedConfiguration: SharedPointer<mbedtls_ssl_config>
    private let certificate: SharedPointer<mbedtls_x509_crt>
    private let key: SharedPointer<mbedtls_pk_context>
    /// SHA-256 of the certificate, as browsers show it: `AB:CD:…`.
    public let fingerprint: String
    var configuration: UnsafeMutablePointer<mbedtls_ssl_config> { sharedConfiguration.pointer }

    /// A new key and certificate, in PEM. It is a secret.
    /// - Parameter names: host names that the certificate is for, eight at most.
    public static func make(names: [String]) throws(TransportError) -> [UInt8] {
        try TLSContext.startCryptography()
        let texts = names.map { Array($0.utf8CString) }
        var pem = [UInt8](repeating: 0, count: 4096)
        let result = withPointers(to: texts[...], []) { names in
            cmbedtls_make_identity(names, names.count, &pem, pem.count)
        }
        guard result == 0 else { throw .tlsUnavailable(reason: describeTLSError(result)) }
        return Array(pem.prefix { $0 != 0 })
    }

    private static func withPointers<Value>(
        to texts: ArraySlice<[CChar]>, _ pointers: [UnsafePointer<CChar>?], _ body: ([UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        guard let text = texts.first else { return body(pointers) }
        return text.withUnsafeBufferPointer {
            withPointers(to: texts.dropFirst(), pointers + [$0.baseAddress], body)
        }
    }

    /// - Parameter pem: what `make` returned.
    /// - Throws: `tlsUnavailable` if it is something else.
    public init(pem: [UInt8]) throws(TransportError) {
        try TLSContext.startCryptography()
        sharedConfiguration = SharedPointer(.allocate(capacity: 1))
        certificate = SharedPointer(.allocate(capacity: 1))
        key = SharedPointer(.allocate(capacity: 1))
        mbedtls_ssl_config_init(sharedConfiguration.pointer)
        mbedtls_x509_crt_init(certificate.pointer)
        mbedtls_pk_init(key.pointer)
        var problem = Self.parse(pem, certificate.pointer, key.pointer)
        if problem == 0 { problem = Self.configure(sharedConfiguration.pointer, certificate.pointer, key.pointer) }
        let raw = certificate.pointer.pointee.raw
        let digest = SHA256.digest(of: Array(UnsafeBufferPointer(start: raw.p, count: raw.len)))
        fingerprint = digest.map { [$0].hexadecimal.uppercased() }.joined(separator: ":")
        guard problem == 0 else { throw .tlsUnavailable(reason: describeTLSError(problem)) }
    }

    deinit {
        mbedtls_ssl_config_free(sharedConfiguration.pointer)
        mbedtls_x509_crt_free(certificate.pointer)
        mbedtls_pk_free(key.pointer)
        sharedConfiguration.pointer.deallocate()
        certificate.pointer.deallocate()
        key.pointer.deallocate()
    }

    /// - Returns: 0, or Mbed TLS's error.
    private static func parse(
        _ pem: [UInt8], _ certificate: UnsafeMutablePointer<mbedtls_x509_crt>,
        _ key: UnsafeMutablePointer<mbedtls_pk_context>
    ) -> Int32 {
        // PEM is parsed as a C string.
        let text = pem + [0]
        var result = mbedtls_pk_parse_key(key, text, text.count, nil, 0, cmbedtls_random, nil)
        if result == 0 { result = mbedtls_x509_crt_parse(certificate, text, text.count) }
        // Otherwise every handshake would fail.
        return result == 0 ? mbedtls_pk_check_pair(&certificate.pointee.pk, key, cmbedtls_random, nil) : result
    }

    /// - Returns: 0, or Mbed TLS's error.
    private static func configure(
        _ configuration: UnsafeMutablePointer<mbedtls_ssl_config>,
        _ certificate: UnsafeMutablePointer<mbedtls_x509_crt>,
        _ key: UnsafeMutablePointer<mbedtls_pk_context>
    ) -> Int32 {
        let result = mbedtls_ssl_config_defaults(
            configuration, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT)
        guard result == 0 else { return result }
        mbedtls_ssl_conf_rng(configuration, cmbedtls_random, nil)
        mbedtls_ssl_conf_min_tls_version(configuration, MBEDTLS_SSL_VERSION_TLS1_2)
        return mbedtls_ssl_conf_own_cert(configuration, certificate, key)
    }
}
