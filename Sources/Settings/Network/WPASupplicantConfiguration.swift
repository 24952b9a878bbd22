extension NetworkDescription {
    /// Directory of wpa_supplicant's control sockets, one per interface, which report its state.
    public static let controlDirectory = "/run/wpa_supplicant"

    /// The contents of wpa_supplicant's configuration file, including passwords; `nil` without a wireless network.
    public var wpaSupplicantConfiguration: String? {
        guard !wifi.isEmpty else { return nil }
        var text = "ctrl_interface=\(Self.controlDirectory)\nupdate_config=0\n"
        if let country { text += "country=\(country)\n" }
        for (index, network) in wifi.enumerated() { text += network.block(priority: wifi.count - index) }
        return text
    }
}

extension NetworkDescription.WiFi {
    fileprivate func block(priority: Int) -> String {
        // In hexadecimal, a name may contain any bytes, and no quote can end it.
        var lines = ["ssid=\(ssid.utf8.map(Self.hexadecimal).joined())", "priority=\(priority)"]
        if isHidden { lines.append("scan_ssid=1") }
        if let password {
            let isKey = password.revealed.utf8.count == 64
            // A passphrase ends at the last quote of the line, so it may contain quotes.
            lines.append(isKey ? "psk=\(password.revealed)" : "psk=\"\(password.revealed)\"")
            lines.append("key_mgmt=WPA-PSK WPA-PSK-SHA256\(isKey ? "" : " SAE")")
            lines.append("ieee80211w=1")
        } else {
            lines.append("key_mgmt=NONE")
        }
        return "network={\n" + lines.map { "\t\($0)\n" }.joined() + "}\n"
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
