import Media
import TimeZones

/// The contents of `network.json`: how the device connects. Wired networks are always tried with DHCP.
public struct NetworkDescription: Hashable, Sendable {
    public struct WiFi: Hashable, Sendable {
        /// 1...32 bytes (IEEE 802.11 section 9.4.2.2).
        public let ssid: String
        /// A passphrase of 8...63 characters or a key of 64 hexadecimal digits; `nil` for an open network.
        public let password: Secret?
        /// The network does not broadcast its name, so scans must ask for it.
        public let isHidden: Bool
        /// Its place in the file, as in `wifi[0]`.
        public let keyPath: String
    }

    /// The device's name in the local network, reachable as `name.local`.
    public var hostName = "tallycam"
    /// Two letters (ISO 3166-1); if absent, the worldwide regulatory domain is used.
    public var country: String?
    /// In order of preference.
    public var wifi: [WiFi] = []
    public var timeServers: [NetworkHost] = []
    /// In which people read the time.
    public var timeZone = TimeZone.utc

    public init() {}
}

extension NetworkDescription {
    private static let wifiExample = #""wifi": [{"ssid": "Studio", "password": "the network's password"}]"#

    /// A complete correct file.
    public static let example = "{\(wifiExample)}"

    /// `goodPart` omits only the keys, Wi-Fi networks and time servers that are wrong.
    public static func decode(_ json: JSONValue) -> Decoded<NetworkDescription> {
        json.decode(example: example, isConfidential: true) { reader in
            var network = NetworkDescription()
            network.readHostName(&reader)
            network.readCountry(&reader)
            network.wifi = reader.objects("wifi", example: wifiExample) { WiFi(reading: &$0) } ?? []
            if !network.wifi.isEmpty, network.country == nil, !reader.has("country") {
                reader.report(
                    .suspicious, "country", "is missing; some channels are not used", example: #""country": "DE""#)
            }
            network.readTimeServers(&reader)
            network.readTimeZone(&reader)
            return network
        }
    }

    private mutating func readHostName(_ reader: inout DescriptionReader) {
        let example = #""hostName": "camera-2""#
        guard let name = reader.text("hostName", example: example) else { return }
        let isLabel =
            (1...63).contains(name.value.utf8.count) && !name.value.hasPrefix("-") && !name.value.hasSuffix("-")
            && name.value.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
        if isLabel {
            hostName = name.value
        } else {
            reader.report(
                .invalidValue, "hostName", at: name.position,
                "must be 1 to 63 letters, digits and hyphens, with no hyphen at either end", example: example)
        }
    }

    private mutating func readCountry(_ reader: inout DescriptionReader) {
        let example = #""country": "DE""#
        guard let text = reader.text("country", example: example) else { return }
        if text.value.utf8.count == 2, text.value.utf8.allSatisfy(\.isASCIILetter) {
            country = text.value.uppercased()
        } else {
            reader.report(
                .invalidValue, "country", at: text.position, "must be a country's two-letter code", example: example)
        }
    }

    private mutating func readTimeZone(_ reader: inout DescriptionReader) {
        let example = #""timeZone": "Europe/Berlin""#
        guard let text = reader.text("timeZone", example: example) else { return }
        do throws(TimeZoneError) {
            timeZone = try TimeZone(named: text.value)
        } catch {
            reader.report(.invalidValue, "timeZone", at: text.position, "\(error)", example: example)
        }
    }

    /// Whether both connect in the same way, whatever else differs.
    public func connects(like other: NetworkDescription) -> Bool {
        var other = other
        other.timeZone = timeZone
        return self == other
    }

    private mutating func readTimeServers(_ reader: inout DescriptionReader) {
        let example = #""timeServers": ["pool.ntp.org"]"#
        for (key, text) in reader.texts("timeServers", example: example) ?? [] {
            do {
                timeServers.append(try NetworkHost(parsing: text.value))
            } catch {
                reader.report(.invalidValue, key, at: text.position, error.problem, example: example)
            }
        }
    }
}

extension NetworkDescription.WiFi {
    private static let passwordExample = #""password": "the network's password""#

    /// A wrong entry yields no network, so that a network meant to be protected is never joined as an open one.
    init?(reading reader: inout DescriptionReader) {
        let ssid = reader.text("ssid", required: true, example: #""ssid": "Studio""#)
        let password = Self.readPassword(&reader)
        let isHidden = reader.flag("hidden", example: #""hidden": true"#)?.value ?? false
        guard let ssid else { return nil }
        guard (1...32).contains(ssid.value.utf8.count), !ssid.value.utf8.contains(where: { $0 < 0x20 }) else {
            reader.report(
                .invalidValue, "ssid", at: ssid.position, "must have 1 to 32 bytes and no control characters",
                example: #""ssid": "Studio""#)
            return nil
        }
        if password == nil, !Self.isMeantOpen(&reader) { return nil }
        // If a name or password occurs twice, it is unclear which one is meant. The duplicate is reported separately.
        guard !reader.isAmbiguous else { return nil }
        self.init(ssid: ssid.value, password: password, isHidden: isHidden, keyPath: reader.path)
    }

    /// Whether an entry without a usable password is meant to be an open network.
    private static func isMeantOpen(_ reader: inout DescriptionReader) -> Bool {
        if let place = reader.mention(of: "password") {
            if !reader.has("password") {
                reader.report(
                    .invalidValue, "password", at: place, "is null; set it, or remove the key for an open network",
                    example: passwordExample)
            }
            return false
        }
        if let position = reader.firstUnknownPosition {
            reader.report(
                .missing, "password", at: position,
                "is missing, but there is an unknown key; an open network has only \"ssid\" and \"hidden\"",
                example: passwordExample)
            return false
        }
        return true
    }

    /// WPA's passphrase or pre-shared key (IEEE 802.11 annex J.4).
    private static func readPassword(_ reader: inout DescriptionReader) -> Secret? {
        guard let text = reader.text("password", example: passwordExample) else { return nil }
        let bytes = text.value.utf8
        let isPassphrase = (8...63).contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        guard isPassphrase || (bytes.count == 64 && bytes.allSatisfy(\.isASCIIHexDigit)) else {
            reader.report(
                .invalidValue, "password", at: text.position,
                "must be 8 to 63 ASCII characters, or 64 hexadecimal digits; remove the key for an open network",
                example: passwordExample)
            return nil
        }
        return Secret(text.value)
    }
}
