/// The state of the Wi-Fi, from the messages of wpa_supplicant's control interface.
///
/// Problems are reported until the network has been joined once. After that, an unreachable network is not a mistake in
/// the settings.
public struct WirelessLink: Hashable, Sendable {
    public enum Problem: Hashable, Sendable {
        /// The network's name as wpa_supplicant writes it, with unusual bytes escaped.
        case wrongPassword(network: String)
        /// None of the networks is in range.
        case notInReach
    }

    /// Searches of five seconds each that a slow access point may take to appear.
    private static let patience = 3

    public private(set) var problem: Problem?
    public private(set) var isConnected = false
    private var hasConnected = false
    private var vainSearches = 0

    public init() {}

    /// One message: an event, which starts with its level in angle brackets, or the answer to STATUS.
    public mutating func supplicantSaid(_ message: String) {
        guard message.hasPrefix("<") else {
            if message.split(separator: "\n").contains("wpa_state=COMPLETED") { joined() }
            return
        }
        let event = message.drop { $0 != ">" }.dropFirst()
        let words = event.split(separator: " ")
        switch words.first {
        case "CTRL-EVENT-CONNECTED": joined()
        case "CTRL-EVENT-DISCONNECTED": isConnected = false
        case "CTRL-EVENT-NETWORK-NOT-FOUND":
            vainSearches += 1
            if vainSearches >= Self.patience, !hasConnected, problem == nil { problem = .notInReach }
        case "CTRL-EVENT-SSID-TEMP-DISABLED"
        where words.last == "reason=WRONG_KEY" || words.last == "reason=AUTH_FAILED":
            problem = .wrongPassword(network: Self.network(in: event))
        default: break
        }
    }

    private mutating func joined() {
        isConnected = true
        hasConnected = true
        vainSearches = 0
        problem = nil
    }

    /// `id=0 ssid="Studio" auth_failures=1 ...`: quotes in the name are escaped.
    private static func network(in event: Substring) -> String {
        var isEscaped = false
        var name = ""
        for character in event.drop(while: { $0 != "\"" }).dropFirst() {
            if !isEscaped, character == "\"" { break }
            isEscaped = !isEscaped && character == "\\"
            name.append(character)
        }
        return name
    }
}
