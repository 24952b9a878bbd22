import Settings

/// What a stream is made of; goes to the stream's thread.
public struct StreamRequest: Sendable {
    public let description: StreamDescription
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?
    public let stateDirectory: String
}
