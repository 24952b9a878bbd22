extension NetworkDescription {
    /// Where wpa_supplicant puts a socket with the name of its interface, which tells how it gets on.
    public static let controlDirectory = "/run/wpa_supplicant"

    /// The text of wpa_supplicant's configuration file; `nil` without a wireless network. It holds passwords.
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
        // In hexadecimal digits a name may hold whatever bytes it likes, and no quote ends it early.
        var lines = ["ssid=\(ssid.utf8.map(Self.hexadecimal).joined())", "priority=\(priority)"]
        if isHidden { lines.append("scan_ssid=1") }
        if let password {
            let isKey = password.revealed.utf8.count == 64
            // A passphrase ends at the line's last quote, so that it may hold quotes itself.
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
