/// Where `tallycam run` finds and puts things.
public struct ApplianceSettings: Sendable {
    public var bootDirectory = "/boot"
    public var stateDirectory = "/state"
    public var networkDirectory = "/run/network"
    public var socketPath = "/run/tallycam.sock"
    /// Power-off and reboot end the program only.
    public var simulatesPower = false

    public init() {}
}
