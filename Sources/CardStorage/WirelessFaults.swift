import ApplianceLogic

// Faults of the Wi-Fi that network.json, or another file on the card, can repair.
extension DescriptionFiles {
    /// With a cable connected, it does not matter that no wireless network is in range.
    package func faults(of problem: WirelessLink.Problem?, isNetworkMissing: Bool) -> [FileFault] {
        switch problem {
        case .wrongPassword(let name):
            let entry = network.wifi.first { $0.ssid == name }?.keyPath
            return [
                fault(
                    .settings, "network.json", entry.map { "\($0).password" } ?? "wifi",
                    "the Wi-Fi \"\(name)\" rejected the password")
            ]
        case .notInReach where isNetworkMissing:
            let entry = network.wifi.first?.keyPath
            return [
                fault(
                    .network, "network.json", entry.map { "\($0).ssid" } ?? "wifi",
                    "none of its Wi-Fi networks is in range; check \"ssid\", \"hidden\" and \"country\"")
            ]
        // A chip that nobody uses may lack what it wants.
        case .firmwareMissing(let chip, let file) where !network.wifi.isEmpty:
            return [
                fault(
                    .network, "network.json", "wifi",
                    "the Wi-Fi chip\(chip.map { " \($0)" } ?? "") lacks its firmware \(file); put this file on the card and restart",
                    example: "firmware/\(file)", isWarning: !isNetworkMissing)
            ]
        case .notInReach, .firmwareMissing, nil: return []
        }
    }
}
