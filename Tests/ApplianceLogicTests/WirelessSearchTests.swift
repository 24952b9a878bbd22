import ApplianceLogic
import Media
import Testing

private func at(_ seconds: Double) -> MediaTimestamp { .zero + .seconds(seconds) }

@Suite struct WirelessSearchTests {
    private func networks(_ lines: String...) -> [WirelessNetwork] {
        let text = (["bssid / frequency / signal level / flags / ssid"] + lines).joined(separator: "\n") + "\n"
        var search = WirelessSearch(now: at(0))
        guard case .found(let networks) = search.received(Array(text.utf8)) else { return [] }
        return networks
    }

    private func line(_ name: String, signal: Int = -50, flags: String = "[WPA2-PSK-CCMP][ESS]") -> String {
        "02:00:00:00:01:00\t2412\t\(signal)\t\(flags)\t\(name)"
    }

    @Test func resultsAreAskedForWhenTheSearchIsOver() {
        var search = WirelessSearch(now: at(0))
        for message in ["OK\n", "FAIL-BUSY\n", "<3>CTRL-EVENT-BSS-ADDED 0 02:00", "", "PONG"] {
            let action = search.received(Array(message.utf8))
            #expect(action == nil)
        }
        let asked = search.received(Array("<3>CTRL-EVENT-SCAN-RESULTS ".utf8))
        #expect(asked == .send("SCAN_RESULTS"))
        let again = search.received(Array("<3>CTRL-EVENT-SCAN-RESULTS ".utf8))
        #expect(again == nil)
    }

    @Test func aSearchThatTakesLongEndsWithWhatIsKnown() {
        var search = WirelessSearch(now: at(0))
        let early = search.timeReached(now: at(5.9))
        #expect(early == nil)
        let late = search.timeReached(now: at(6))
        #expect(late == .send("SCAN_RESULTS"))
        let silent = search.timeReached(now: at(8))
        #expect(silent == .failed(reason: "wpa_supplicant does not answer"))
    }

    @Test func aRefusalEndsTheSearch() {
        var search = WirelessSearch(now: at(0))
        let refused = search.received(Array("FAIL\n".utf8))
        #expect(refused == .failed(reason: "wpa_supplicant refuses to search"))
    }

    @Test func eachNameIsListedOnceAndTheStrongestFirst() {
        let found = networks(
            line("far", signal: -90), line("near", signal: -70), line("near", signal: -40), line(""),
            line(#"\x00\x00"#), "damaged", line("near", signal: -60))
        #expect(found.map(\.name) == ["near", "far"])
        #expect(found.map(\.signal) == [-40, -90])
    }

    @Test func theListIsBounded() {
        let text = "bssid /\n" + (0..<200).map { line("n\($0)") }.joined(separator: "\n")
        var search = WirelessSearch(now: at(0))
        guard case .found(let found) = search.received(Array(text.utf8)) else { return #expect(Bool(false)) }
        #expect(found.count == WirelessSearch.resultLimit)
    }

    @Test(arguments: [
        (#"Caf\xc3\xa9 \"1\" \\"#, "Café \"1\" \\", true), (#"a\xff"#, #"a\xff"#, false), (#"a\nb"#, #"a\nb"#, false),
        (#"\e[2J"#, #"\e[2J"#, false), (#"a\xe2\x80\xaeb"#, #"a\xe2\x80\xaeb"#, false), (#"a\x"#, "a", true),
        (#"a\xz1"#, "a", true), ("tab\tname", "tab\tname", false),
    ])
    func namesAreSafeToShow(escaped: String, name: String, isExact: Bool) {
        let found = networks(line(escaped)).first
        #expect(found?.isExact == isExact)
        #expect(found?.name == name.filter { $0 != "\t" })
    }

    @Test(arguments: [
        ("[ESS]", WirelessNetwork.Security.open), ("[WEP][ESS]", .wep), ("[WPA-PSK-TKIP][ESS]", .wpa),
        ("[WPA-PSK-TKIP][WPA2-PSK-CCMP][ESS]", .wpa2), ("[WPA2-PSK+SAE-CCMP][ESS]", .wpa2),
        ("[WPA2-SAE-CCMP][ESS]", .wpa3), ("[WPA2-EAP-CCMP][ESS]", .enterprise), ("", .open),
    ])
    func securityIsTakenFromTheFlags(flags: String, security: WirelessNetwork.Security) {
        #expect(networks(line("x", flags: flags)).first?.security == security)
    }
}
