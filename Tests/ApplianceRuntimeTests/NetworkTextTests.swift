import Testing

@testable import ApplianceRuntime
@testable import CommandChannels

@Suite struct NetworkTextTests {
    @Test(arguments: [
        (true, ["wlan0", "eth0"], "up (eth0, wlan0)"), (true, [], "up"),
        (false, ["wlan0"], "no default route (wlan0)"), (false, [], "down"),
    ])
    func networkTextNamesTheLinks(hasDefaultRoute: Bool, linksUp: [String], text: String) {
        let reading = ApplianceStatus.NetworkReading(hasDefaultRoute: hasDefaultRoute, linksUp: Set(linksUp))
        #expect(reading.text == text)
    }
}
