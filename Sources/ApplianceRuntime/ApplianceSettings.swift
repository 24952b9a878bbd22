import Settings

/// Where `tallycam run` finds and puts things.
public struct ApplianceSettings: Sendable {
    public var bootDirectory = "/boot"
    public var stateDirectory = "/state"
    public var networkDirectory = "/run/network"
    /// wpa_supplicant's control interface: a socket for each Wi-Fi interface.
    public var supplicantDirectory = NetworkDescription.controlDirectory
    public var socketPath = "/run/tallycam.sock"
    /// Power-off and reboot end the program only.
    public var simulatesPower = false

    public init() {}
}
