import JSONText
import Settings
import Testing

@Suite("Wi-Fi settings")
struct WPASupplicantTests {
    private func text(_ json: String) throws -> String? {
        let network = NetworkDescription.decode(try JSONValue(parsing: Array(json.utf8)))
        return try #require(network.value).wpaSupplicantConfiguration
    }

    @Test func noFileWithoutANetwork() throws {
        #expect(try text("{}") == nil)
    }

    @Test func nameCannotEscapeItsLine() throws {
        let wifi = try #require(
            try text(#"{"country": "DE", "wifi": [{"ssid": "a\"}Ä", "password": "pass\"word }"}]}"#))
        #expect(
            wifi == """
                ctrl_interface=/run/wpa_supplicant
                update_config=0
                country=DE
                network={
                \tssid=61227dc384
                \tpriority=1
                \tpsk="pass"word }"
                \tkey_mgmt=WPA-PSK WPA-PSK-SHA256 SAE
                \tieee80211w=1
                }

                """)
    }

    @Test func keysAreWrittenWithoutQuotesAndOrderIsPriority() throws {
        let key = String(repeating: "0a", count: 32)
        let wifi = try #require(
            try text(
                #"{"country": "DE", "wifi": [{"ssid": "a", "password": "\#(key)"}, {"ssid": "b", "hidden": true}]}"#))
        #expect(wifi.contains("\tpsk=\(key)\n"))
        #expect(wifi.contains("\tssid=61\n\tpriority=2\n"))
        #expect(wifi.contains("\tssid=62\n\tpriority=1\n\tscan_ssid=1\n\tkey_mgmt=NONE\n"))
    }
}
