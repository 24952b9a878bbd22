import Media

/// A Wi-Fi network in range.
public struct WirelessNetwork: Hashable, Sendable {
    public enum Security: String, Hashable, Sendable {
        case open
        case wep
        case wpa
        case wpa2
        case wpa3
        /// Wants a user name or a certificate, which network.json cannot give.
        case enterprise
    }

    /// Text that is safe to show.
    public let name: String
    /// Whether `name` is that of the network. If not, it has bytes that are no text, or control characters; they are escaped.
    public let isExact: Bool
    /// Of its strongest access point, in dBm.
    public let signal: Int
    public let security: Security
}

/// One search for Wi-Fi networks through wpa_supplicant's control interface: what to send, and what its answers mean.
public struct WirelessSearch: Sendable {
    public enum Action: Hashable, Sendable {
        case send(String)
        case found([WirelessNetwork])
        case failed(reason: String)
    }

    /// The results of wpa_supplicant's own search are better than none.
    public static let scanTime = Duration.seconds(6)
    public static let patience = Duration.seconds(8)
    /// The first messages.
    public static let requests = ["ATTACH", "SCAN"]
    public static let resultLimit = 32
    private static let results = "SCAN_RESULTS"

    private let start: MediaTimestamp
    private var isAskedForResults = false

    public init(now: MediaTimestamp) { start = now }

    public var deadline: MediaTimestamp { start + (isAskedForResults ? Self.patience : Self.scanTime) }

    /// - Parameter message: an event, which starts with its level in angle brackets, or an answer.
    public mutating func received(_ message: [UInt8]) -> Action? {
        let lines = message.split(separator: 0x0A)
        guard let first = lines.first.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        if first.hasPrefix("bssid /") { return .found(Self.networks(lines.dropFirst())) }
        let isOver = ["CTRL-EVENT-SCAN-RESULTS", "CTRL-EVENT-SCAN-FAILED"].contains { event in
            first.drop { $0 != ">" }.dropFirst().hasPrefix(event)
        }
        // Another search is under way: its results will do.
        return isOver ? askForResults() : first == "FAIL" ? .failed(reason: "wpa_supplicant refuses to search") : nil
    }

    public mutating func timeReached(now: MediaTimestamp) -> Action? {
        guard now >= deadline else { return nil }
        return askForResults() ?? .failed(reason: "wpa_supplicant does not answer")
    }

    private mutating func askForResults() -> Action? {
        guard !isAskedForResults else { return nil }
        isAskedForResults = true
        return .send(Self.results)
    }

    /// The strongest first, each name once.
    private static func networks(_ lines: some Sequence<ArraySlice<UInt8>>) -> [WirelessNetwork] {
        var strongest: [String: WirelessNetwork] = [:]
        for line in lines {
            guard let network = WirelessNetwork(line) else { continue }
            if let other = strongest[network.name], other.signal >= network.signal { continue }
            strongest[network.name] = network
        }
        return Array(
            strongest.values.sorted { ($1.signal, $0.name) < ($0.signal, $1.name) }.prefix(resultLimit))
    }
}

extension WirelessNetwork {
    /// BSSID, frequency, signal level, flags and name, with tabs between them. Without a name: a hidden network.
    fileprivate init?(_ line: ArraySlice<UInt8>) {
        let parts = line.split(separator: 0x09, maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let signal = Int(String(decoding: parts[2], as: UTF8.self)) else { return nil }
        let bytes = Self.unescaped(parts[4])
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        let text = String(validating: bytes, as: UTF8.self)
        isExact = text?.unicodeScalars.contains { $0.isInvisible } == false
        // wpa_supplicant leaves nothing but printable ASCII unescaped.
        name = isExact ? text ?? "" : String(decoding: parts[4].filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
        self.signal = max(-200, min(0, signal))
        security = Security(flags: String(decoding: parts[3], as: UTF8.self))
    }

    /// Reverses printf_encode of wpa_supplicant: `\"`, `\\`, `\e`, `\n`, `\r`, `\t`, and `\xNN` for all other bytes.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch kind {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "e"): bytes.append(0x1B)
            case UInt8(ascii: "x"):
                bytes += [UInt8](hexadecimal: String(decoding: rest.prefix(2), as: UTF8.self)) ?? []
                rest = rest.dropFirst(2)
            default: bytes.append(kind)
            }
        }
        return bytes
    }
}

extension Unicode.Scalar {
    /// Steers a terminal, or makes one name look like another: controls, directions, joiners.
    fileprivate var isInvisible: Bool {
        let ranges = [
            0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF...0xFEFF,
        ]
        return ranges.contains { $0.contains(Int(value)) }
    }
}

extension WirelessNetwork.Security {
    /// - Parameter flags: such as `[WPA2-PSK+SAE-CCMP][ESS]`.
    fileprivate init(flags: String) {
        let kinds: [(word: String, Self)] = [
            ("EAP", .enterprise), ("WPA2-PSK", .wpa2), ("WPA2-FT/PSK", .wpa2), ("SAE", .wpa3), ("PSK", .wpa),
            ("WEP", .wep),
        ]
        self = kinds.first { flags.utf8.holds($0.word.utf8) }?.1 ?? .open
    }
}

extension String.UTF8View {
    fileprivate func holds(_ word: String.UTF8View) -> Bool {
        var rest = self[...]
        while rest.count >= word.count {
            if rest.starts(with: word) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
