import Media

/// The target of a request: origin-form, absolute-form, or the asterisk of OPTIONS (RFC 9112 section 3.2).
struct HTTPTarget: Equatable {
    /// Only absolute-form has one.
    let host: NetworkHost?
    /// `nil` for the asterisk.
    let segments: [String]?
    let query: [HTTPField]

    init(_ bytes: ArraySlice<UInt8>, method: HTTPMethod) throws(HTTPRequestError) {
        // A fragment is never sent, and some clients and servers read a backslash as a slash.
        guard bytes.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") }) else {
            throw .malformedTarget
        }
        if bytes.elementsEqual("*".utf8) {
            guard method == .options else { throw .malformedTarget }
            (host, segments, query) = (nil, nil, [])
            return
        }
        let (host, rest) = try Self.splitHost(bytes)
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        self.host = host
        segments = try Self.segments(rest[..<mark], isAbsolute: host != nil)
        query = try Self.query(rest[mark...].dropFirst())
    }

    private static func splitHost(
        _ bytes: ArraySlice<UInt8>
    ) throws(HTTPRequestError) -> (NetworkHost?, ArraySlice<UInt8>) {
        for scheme in ["http://", "https://"] where bytes.hasCaselessPrefix(scheme) {
            let rest = bytes.dropFirst(scheme.utf8.count)
            let end = rest.firstIndex { $0 == .slash || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            guard let host = NetworkHost(strictly: rest[..<end]) else { throw .malformedHost }
            return (host, rest[end...])
        }
        return (nil, bytes)
    }

    private static func segments(_ bytes: ArraySlice<UInt8>, isAbsolute: Bool) throws(HTTPRequestError) -> [String] {
        if isAbsolute, bytes.isEmpty { return [] }
        guard bytes.first == .slash else { throw .malformedTarget }
        guard bytes.count > 1 else { return [] }
        var segments: [String] = []
        for encoded in bytes.dropFirst().split(separator: .slash, omittingEmptySubsequences: false) {
            guard let segment = percentDecoded(encoded), segment != ".", segment != "..",
                !segment.utf8.contains(where: { $0 == .slash || $0 == UInt8(ascii: "\\") })
            else { throw .malformedTarget }
            segments.append(segment)
        }
        return segments
    }

    /// Pairs as forms make them: `+` is a space.
    private static func query(_ bytes: ArraySlice<UInt8>) throws(HTTPRequestError) -> [HTTPField] {
        var pairs: [HTTPField] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: .equals) ?? pair.endIndex
            guard let name = percentDecoded(pair[..<equals], plusIsSpace: true),
                let value = percentDecoded(pair[equals...].dropFirst(), plusIsSpace: true)
            else { throw .malformedTarget }
            pairs.append(HTTPField(name, value))
        }
        return pairs
    }

    /// - Returns: `nil` if a percent sign is not followed by two digits, or if the result has control characters or is not
    ///   valid UTF-8.
    private static func percentDecoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                    return nil
                }
                decoded.append(high << 4 | low)
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? .space : byte)
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self), !text.unicodeScalars.contains(where: \.isControl)
        else { return nil }
        return text
    }
}

extension NetworkHost {
    /// The host of a request, with its name in lowercase. Zones of IPv6 addresses are refused: they mean something on the
    /// client's machine only.
    init?(strictly bytes: ArraySlice<UInt8>) {
        guard bytes.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: "%") }) else { return nil }
        let text = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
        guard let host = try? NetworkHost(parsing: text) else { return nil }
        self = host
    }
}
