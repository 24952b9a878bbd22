import ApplianceLogic
import Testing

/// The messages of wpa_supplicant, and the resulting problem for people.
@Suite("Wi-Fi")
struct WirelessLinkTests {
    private static let wrongKey =
        "<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid=\"Studio\" auth_failures=1 duration=10 reason=WRONG_KEY"
    private static let connected = "<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]"
    private static let notFound = "<3>CTRL-EVENT-NETWORK-NOT-FOUND "

    private func link(_ messages: String...) -> WirelessLink {
        var link = WirelessLink()
        for message in messages { link.supplicantSaid(message) }
        return link
    }

    @Test func wrongPasswordIsReportedUntilTheNetworkIsJoined() {
        var wireless = link(Self.wrongKey)
        #expect(wireless.problem == .wrongPassword(network: "Studio"))
        wireless.supplicantSaid(Self.notFound)
        #expect(wireless.problem == .wrongPassword(network: "Studio"))
        wireless.supplicantSaid(Self.connected)
        #expect(wireless.problem == nil)
        #expect(wireless.isConnected)
    }

    @Test func recognizesTheRefusalOfWPA3() {
        let refused = Self.wrongKey.replacingReason("AUTH_FAILED")
        #expect(link(refused).problem == .wrongPassword(network: "Studio"))
        // An access point that is full or too far away says nothing about the password.
        #expect(link(Self.wrongKey.replacingReason("CONN_FAILED")).problem == nil)
    }

    @Test func quotesInTheNameDoNotEndIt() {
        let message =
            #"<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="a\"b\\" auth_failures=1 duration=10 reason=WRONG_KEY"#
        #expect(link(message).problem == .wrongPassword(network: #"a\"b\\"#))
    }

    @Test func missingNetworkIsReportedAfterThreeSearches() {
        #expect(link(Self.notFound, Self.notFound).problem == nil)
        #expect(link(Self.notFound, Self.notFound, Self.notFound).problem == .notInReach)
        // A network that was there before is not reported.
        let lost = link(
            Self.connected, "<3>CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=4", Self.notFound,
            Self.notFound, Self.notFound)
        #expect(lost.problem == nil)
        #expect(!lost.isConnected)
    }

    private static let using = "brcmfmac: brcmf_fw_alloc_request: using brcm/brcmfmac43430b0-sdio for chip BCM43430/2"

    private func missing(_ file: String, error: Int = -2) -> String {
        "brcmfmac mmc1:0001:1: Direct firmware load for brcm/\(file) failed with error \(error)"
    }

    private func afterKernel(_ messages: String...) -> WirelessLink {
        var link = WirelessLink()
        for message in messages { link.kernelSaid(message) }
        return link
    }

    @Test func missingFirmwareIsReportedWithChipAndFile() {
        let file = "brcmfmac43430b0-sdio.bin"
        let problem = WirelessLink.Problem.firmwareMissing(chip: "BCM43430/2", file: "brcm/\(file)")
        #expect(afterKernel(Self.using, missing(file)).problem == problem)
        // Without a line about the chip, or with one about another chip.
        #expect(afterKernel(missing(file)).problem == .firmwareMissing(chip: nil, file: "brcm/\(file)"))
        let other = "brcmfmac43455-sdio.txt"
        #expect(
            afterKernel(Self.using, missing(other)).problem == .firmwareMissing(chip: nil, file: "brcm/\(other)"))
    }

    @Test func firmwareThatTheDriverCanDoWithoutIsNotReported() {
        for file in [
            "brcmfmac43430b0-sdio.raspberrypi,model-zero-2-w.bin", "brcmfmac43430b0-sdio.clm_blob",
            "brcmfmac43430b0-sdio.txcap_blob", "brcmfmac43430b0-sdio", "",
        ] {
            #expect(afterKernel(Self.using, missing(file)).problem == nil, "\(file)")
        }
        #expect(afterKernel(missing("brcmfmac43430b0-sdio.bin", error: -12)).problem == nil)
        let another = "r8152 1-1:1.0: Direct firmware load for rtl_nic/rtl8153a-4.fw failed with error -2"
        #expect(afterKernel(another, "", "using", "failed with error -2").problem == nil)
    }

    @Test func missingFirmwareOutlivesTheSupplicantUntilTheNetworkIsJoined() {
        var wireless = afterKernel(Self.using, missing("brcmfmac43430b0-sdio.bin"))
        let problem = wireless.problem
        wireless.supplicantReplaced()
        #expect(wireless.problem == problem)
        wireless.supplicantSaid(Self.connected)
        #expect(wireless.problem == nil)
        wireless.supplicantSaid(Self.wrongKey)
        wireless.supplicantReplaced()
        #expect(wireless.problem == nil)
    }

    @Test func answerToStatusCounts() {
        #expect(link("bssid=02:00:00:00:01:00\nssid=Studio\nwpa_state=COMPLETED\n").isConnected)
        #expect(!link("ssid=wpa_state=COMPLETED\nwpa_state=SCANNING\n").isConnected)
        #expect(!link("OK\n", "PONG\n", "", "<", "<3>", "<3>CTRL-EVENT-SSID-TEMP-DISABLED").isConnected)
    }
}

extension String {
    fileprivate func replacingReason(_ reason: String) -> String {
        String(self[..<(lastIndex(of: "=") ?? endIndex)]) + "=\(reason)"
    }
}
