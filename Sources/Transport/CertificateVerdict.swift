import CMbedTLS
import Glibc
import LinuxIO

/// Collects the findings about a certificate chain and turns them into one `TLSFailure`.
final class CertificateVerdict {
    /// The findings of all certificates in the chain (MBEDTLS_X509_BADCERT_*).
    private var flags: UInt32 = 0
    private var serverSubject = ""
    private var serverNames: [String] = []
    private var serverIsSelfIssued = false
    private var topIssuer = (depth: Int32(-1), name: "")
    /// The validity of the outdated certificate; the server's own takes precedence over an authority's.
    private var expiry: String?
    private var start: String?

    /// Called for each certificate of the chain; the server's own has depth 0.
    func certificateChecked(_ certificate: mbedtls_x509_crt, depth: Int32, flags: UInt32) {
        self.flags |= flags
        if flags & UInt32(MBEDTLS_X509_BADCERT_EXPIRED) != 0 { expiry = dateText(certificate.valid_to) }
        if flags & UInt32(MBEDTLS_X509_BADCERT_FUTURE) != 0 { start = dateText(certificate.valid_from) }
        if depth > topIssuer.depth { topIssuer = (depth, nameText(certificate.issuer)) }
        if depth == 0 {
            serverSubject = nameText(certificate.subject)
            serverIsSelfIssued = equal(certificate.issuer_raw, certificate.subject_raw)
            serverNames = alternativeNames(certificate)
        }
    }

    /// Adds the result of a check made after the handshake.
    func add(flags: UInt32) { self.flags |= flags }

    /// The root cause: with a wrong clock, no other finding can be trusted.
    func failure(expectedHost: String) -> TLSFailure? {
        let now = Self.boardTime
        if let start { return .certificateNotYetValid(from: start, now: now) }
        if let expiry { return .certificateExpired(until: expiry, now: now) }
        if has(MBEDTLS_X509_BADCERT_REVOKED) { return .certificateRevoked }
        if has(MBEDTLS_X509_BADCERT_NOT_TRUSTED) {
            return serverIsSelfIssued ? .selfSigned(subject: serverSubject) : .unknownAuthority(issuer: topIssuer.name)
        }
        if has(MBEDTLS_X509_BADCERT_CN_MISMATCH) { return .wrongHost(expected: expectedHost, names: serverNames) }
        return flags == 0 ? nil : .certificateUnacceptable(reason: Self.describe(flags: flags))
    }

    private func has(_ flag: Int32) -> Bool { flags & UInt32(bitPattern: flag) != 0 }

    private static func describe(flags: UInt32) -> String {
        var text = [CChar](repeating: 0, count: 512)
        mbedtls_x509_crt_verify_info(&text, text.count, "", flags)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
    }

    /// The time of day in UTC as `2026-11-21 02:00:00`.
    static var boardTime: String {
        var seconds = time_t(WallClock.secondsSince1970())
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return formatted([
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ])
    }
}

private func dateText(_ time: mbedtls_x509_time) -> String {
    formatted([time.year, time.mon, time.day, time.hour, time.min, time.sec])
}

/// - Parameter parts: year to second, six numbers.
private func formatted(_ parts: [Int32]) -> String {
    let digits = parts.map { $0 < 10 ? "0\($0)" : "\($0)" }
    return digits.prefix(3).joined(separator: "-") + " " + digits.dropFirst(3).joined(separator: ":") + " UTC"
}

private func nameText(_ name: mbedtls_x509_name) -> String {
    var text = [CChar](repeating: 0, count: 256)
    let length = withUnsafePointer(to: name) { mbedtls_x509_dn_gets(&text, text.count, $0) }
    // The name is damaged or longer than the buffer.
    guard length > 0 else { return "unnamed" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func equal(_ left: mbedtls_x509_buf, _ right: mbedtls_x509_buf) -> Bool {
    UnsafeBufferPointer(start: left.p, count: left.len).elementsEqual(
        UnsafeBufferPointer(start: right.p, count: right.len))
}

/// The hosts that a certificate covers (RFC 5280 section 4.2.1.6), at most eight.
private func alternativeNames(_ certificate: mbedtls_x509_crt) -> [String] {
    withUnsafePointer(to: certificate.subject_alt_names) { first in
        var names: [String] = []
        var next: UnsafePointer<mbedtls_x509_sequence>? = first
        while let entry = next, names.count < 8 {
            if let name = alternativeName(entry.pointee.buf) { names.append(name) }
            next = UnsafePointer(entry.pointee.next)
        }
        return names
    }
}

private func alternativeName(_ name: mbedtls_x509_buf) -> String? {
    guard let bytes = name.p, name.len > 0 else { return nil }
    let value = UnsafeBufferPointer(start: bytes, count: name.len)
    switch name.tag & Int32(MBEDTLS_ASN1_TAG_VALUE_MASK) {
    case Int32(MBEDTLS_X509_SAN_DNS_NAME):
        return String(decoding: value.filter { (0x21...0x7e).contains($0) }, as: UTF8.self)
    case Int32(MBEDTLS_X509_SAN_IP_ADDRESS):
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = name.len == 4 ? AF_INET : AF_INET6
        guard name.len == 4 || name.len == 16,
            inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    default: return nil
    }
}
