import MediaTestSupport
import Settings
import Testing

@testable import ApplianceRuntime
@testable import CardStorage

@Suite struct NetworkSettingsTests {
    /// The start script has read the file, which changes before the program reads it.
    @Test func writingReportsWhetherTheStartScriptsSawOtherSettings() throws {
        let directory = try TemporaryDirectory()
        var network = NetworkDescription()
        #expect(try writeNetworkSettings(network, to: directory.path), "nothing was there")
        #expect(try !writeNetworkSettings(network, to: directory.path))
        network.hostName = "studio-3"
        #expect(try writeNetworkSettings(network, to: directory.path))
        #expect(try !writeNetworkSettings(network, to: directory.path))
    }
}
