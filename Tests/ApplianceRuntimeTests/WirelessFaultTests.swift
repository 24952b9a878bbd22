import ApplianceLogic
import MediaTestSupport
import Testing

@testable import CardStorage

/// What faults.txt tells of the Wi-Fi.
@Suite struct WirelessFaultTests {
    private static let missing = WirelessLink.Problem.firmwareMissing(
        chip: "BCM43430/2", file: "brcm/brcmfmac43430b0-sdio.bin")

    private func files(_ network: String) throws -> DescriptionFiles {
        let directory = try TemporaryDirectory()
        _ = try directory.write(Array(network.utf8), to: "network.json")
        return DescriptionFiles(reading: directory.path)
    }

    @Test func missingFirmwareIsAFaultOnlyWithoutAnotherNetwork() throws {
        let files = try files(#"{"wifi": [{"ssid": "Studio", "password": "correct horse"}]}"#)
        let fault = try #require(files.faults(of: Self.missing, isNetworkMissing: true).first)
        #expect(fault.kind == .network && fault.file == "network.json" && fault.fault.keyPath == "wifi")
        #expect(!fault.fault.isWarning)
        #expect(fault.fault.problem.contains("chip BCM43430/2 lacks its firmware brcm/brcmfmac43430b0-sdio.bin"))
        #expect(fault.fault.example == "firmware/brcm/brcmfmac43430b0-sdio.bin")
        let withCable = try #require(files.faults(of: Self.missing, isNetworkMissing: false).first)
        #expect(withCable.fault.isWarning && withCable.fault.problem == fault.fault.problem)
    }

    @Test func missingFirmwareOfAnUnusedChipIsNotReported() throws {
        #expect(try files(#"{"wifi": []}"#).faults(of: Self.missing, isNetworkMissing: true).isEmpty)
    }
}
