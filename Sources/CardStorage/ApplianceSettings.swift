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
    /// Nobody reads why the program does not start: it goes on without a boot folder or a control socket, counts the
    /// fault out by its light, and tries again.
    public var isUnattended = false

    public init() {}
}
