import CMbedTLS
import Glibc
import LinuxIO

/// The trusted authorities and settings that all TLS connections share. Loading the system's authorities takes milliseconds and
/// some hundred kilobytes; `shared` does it only once.
///
/// Any thread: nothing here changes after `init`, and Mbed TLS locks what it stores with a key (MBEDTLS_THREADING_C, which
/// CMbedTLS requires).
public final class TLSContext: Sendable {
    private let latestConfiguration: SharedPointer<mbedtls_ssl_config>
    private let tls12Configuration: SharedPointer<mbedtls_ssl_config>
    private let sharedAuthorities: SharedPointer<mbedtls_x509_crt>
    var authorities: UnsafeMutablePointer<mbedtls_x509_crt> { sharedAuthorities.pointer }
    /// The file that the authorities were read from.
    public let authorityFile: String
    let tls12Servers: TLS12Servers

    /// Where systems keep their bundle of authorities, in PEM.
    static let systemAuthorityFiles = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Buildroot, Arch
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // Alpine
    ]

    /// The candidate files, in order.
    static func files(_ authorityFile: String?) -> [String] { authorityFile.map { [$0] } ?? systemAuthorityFiles }

    /// - Parameter authorityFile: certificates to trust instead of the system's, in PEM.
    /// - Throws: `tlsUnavailable` if there are no certificates to trust.
    init(authorityFile: String? = nil, tls12Servers: TLS12Servers = .met) throws(TransportError) {
        try Self.startCryptography()
        let (path, bundle) = try Self.readAuthorities(authorityFile)
        self.authorityFile = path
        self.tls12Servers = tls12Servers
        sharedAuthorities = SharedPointer(.allocate(capacity: 1))
        latestConfiguration = SharedPointer(.allocate(capacity: 1))
        tls12Configuration = SharedPointer(.allocate(capacity: 1))
        mbedtls_x509_crt_init(authorities)
        for offer in TLSOffer.allCases { mbedtls_ssl_config_init(configuration(for: offer)) }
        try parseAuthorities(bundle)
        for offer in TLSOffer.allCases { try configure(configuration(for: offer), offer) }
    }

    deinit {
        for configuration in TLSOffer.allCases.map(configuration(for:)) {
            mbedtls_ssl_config_free(configuration)
            configuration.deallocate()
        }
        mbedtls_x509_crt_free(authorities)
        authorities.deallocate()
    }

    func configuration(for offer: TLSOffer) -> UnsafeMutablePointer<mbedtls_ssl_config> {
        switch offer {
        case .latest: latestConfiguration.pointer
        case .tls12: tls12Configuration.pointer
        }
    }

    /// Mbed TLS uses PSA for TLS 1.3 and random numbers. PSA starts once per process.
    private static let cryptographyStatus = psa_crypto_init()

    static func startCryptography() throws(TransportError) {
        guard cryptographyStatus == PSA_SUCCESS else {
            throw .tlsUnavailable(reason: "the cryptography library did not start (\(cryptographyStatus))")
        }
    }

    /// Real bundles are 200 to 300 kB.
    private static let authorityFileLimit = 4 << 20

    private static func readAuthorities(_ path: String?) throws(TransportError) -> (path: String, bundle: [UInt8]) {
        for candidate in files(path) {
            do {
                return (candidate, try readFile(candidate, limit: authorityFileLimit))
            } catch {
                if path == nil, error.number == ENOENT { continue }
                throw .tlsUnavailable(reason: "the CA file cannot be read: \(error)")
            }
        }
        throw .tlsUnavailable(
            reason: "no CA certificates to trust; install the system's in \(systemAuthorityFiles[0]), "
                + "or name a PEM file: \(TLSFailure.trustAdvice)")
    }

    private func parseAuthorities(_ bundle: [UInt8]) throws(TransportError) {
        // PEM is parsed as a C string. A positive result counts skipped certificates, which is acceptable in a bundle of a
        // hundred.
        let text = bundle + [0]
        let result = mbedtls_x509_crt_parse(authorities, text, text.count)
        guard result >= 0, authorities.pointee.version != 0 else {
            throw .tlsUnavailable(reason: "\(authorityFile) \(Self.problem(withAuthorities: result))")
        }
    }

    private static func problem(withAuthorities result: Int32) -> String {
        // Mbed TLS adds the underlying reason in the low seven bits.
        guard [MBEDTLS_ERR_X509_UNKNOWN_SIG_ALG, MBEDTLS_ERR_PK_UNKNOWN_PK_ALG].contains(-(-result & 0xFF80)) else {
            return "contains no readable certificate (\(describeTLSError(result)))"
        }
        return "contains a certificate with an unsupported key or signature, such as Ed25519; use RSA or ECDSA"
    }

    private func configure(
        _ configuration: UnsafeMutablePointer<mbedtls_ssl_config>, _ offer: TLSOffer
    ) throws(TransportError) {
        let result = mbedtls_ssl_config_defaults(
            configuration, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT)
        guard result == 0 else { throw .tlsUnavailable(reason: describeTLSError(result)) }
        mbedtls_ssl_conf_authmode(configuration, MBEDTLS_SSL_VERIFY_REQUIRED)
        mbedtls_ssl_conf_ca_chain(configuration, authorities, nil)
        mbedtls_ssl_conf_rng(configuration, cmbedtls_random, nil)
        mbedtls_ssl_conf_min_tls_version(configuration, MBEDTLS_SSL_VERSION_TLS1_2)
        mbedtls_ssl_conf_max_tls_version(configuration, offer.maximumVersion)
        mbedtls_ssl_conf_sig_algs(configuration, offer.signatureSchemes)
        if let suites = offer.cipherSuites { mbedtls_ssl_conf_ciphersuites(configuration, suites) }
    }
}

/// An Mbed TLS error in the library's own words.
func describeTLSError(_ number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 160)
    mbedtls_strerror(number, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
