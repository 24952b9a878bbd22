import Glibc
import Settings
import Transport

/// Paths and modes of `tallycam run`.
public struct ApplianceSettings: Sendable {
    public var bootDirectory = "/boot"
    public var stateDirectory = "/state"
    /// Where the start scripts mount USB sticks, each in a folder of its own.
    public var mediaDirectory = "/run/media"
    public var networkDirectory = "/run/network"
    /// wpa_supplicant's control interface, with one socket per Wi-Fi interface.
    public var supplicantDirectory = NetworkDescription.controlDirectory
    public var socketPath = "/run/tallycam.sock"
    /// Where the page is served; `nil` for nowhere.
    public var pageEndpoint: Endpoint?
    /// Whether power-off and reboot only end the program.
    public var simulatesPower = false
    /// Nobody reads error messages at the start. The program continues without a boot folder or control socket, shows the fault
    /// with its light, and retries.
    public var isUnattended = false

    public init() {}

    /// While this file exists, a time server is being asked and has not answered yet (S40time).
    package var awaitedClock: String { "\(networkDirectory)/clock-awaited" }
    package var isClockAwaited: Bool { access(awaitedClock, F_OK) == 0 }
    /// Whether this system's own start script asks time servers.
    package var asksTimeServers: Bool { access("\(networkDirectory)/timeservers", F_OK) == 0 }
}
