/// The state of the Wi-Fi, from the messages of wpa_supplicant's control interface and of the chip's driver.
///
/// Problems are reported until the network has been joined once. After that, an unreachable network is not a mistake in
/// the settings.
public struct WirelessLink: Hashable, Sendable {
    public enum Problem: Hashable, Sendable {
        /// The network's name as wpa_supplicant writes it, with unusual bytes escaped.
        case wrongPassword(network: String)
        /// None of the networks is in range.
        case notInReach
        /// The driver did not find a file that the chip needs. The chip is as the driver names it, if it did.
        case firmwareMissing(chip: String?, file: String)
    }

    /// What the driver has announced: `using brcm/brcmfmac43430-sdio for chip BCM43430/1`.
    private struct Chip: Hashable {
        static let files = "brcm/brcmfmac"

        let path: String
        let name: String

        init?(_ words: [String]) {
            guard let using = words.firstIndex(of: "using"), words.count > using + 4,
                words[using + 1].hasPrefix(Self.files),
                words[using + 2] == "for", words[using + 3] == "chip"
            else { return nil }
            path = words[using + 1]
            name = words[using + 4]
        }
    }

    /// Searches of five seconds each that a slow access point may take to appear.
    private static let patience = 3

    public private(set) var problem: Problem?
    public private(set) var isConnected = false
    private var hasConnected = false
    private var vainSearches = 0
    private var chip: Chip?

    public init() {}

    /// A new wpa_supplicant, or none: what the former one said no longer counts.
    public mutating func supplicantReplaced() {
        let before = self
        self = WirelessLink()
        chip = before.chip
        if case .firmwareMissing = before.problem { problem = before.problem }
    }

    /// A message of the kernel's log. brcmfmac, the driver of the boards' chips, looks for each file under the board's name
    /// first (`...-sdio.raspberrypi,3-model-b.bin`). Only the file without that name has to be there.
    public mutating func kernelSaid(_ message: String) {
        let words = message.split(separator: " ").map(String.init)
        if let announced = Chip(words) { chip = announced }
        guard words.suffix(4) == ["failed", "with", "error", "-2"], let file = words.dropLast(4).last,
            file.hasPrefix(Chip.files)
        else { return }
        let parts = file.split(separator: ".")
        guard parts.count == 2, parts[1] == "bin" || parts[1] == "txt" else { return }
        problem = .firmwareMissing(chip: chip?.path == String(parts[0]) ? chip?.name : nil, file: file)
    }

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
