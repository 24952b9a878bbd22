/// What a computer wants of the camera at present, as far as it matters to the device.
public enum WebcamUse: Hashable, Sendable {
    /// No program there looks or records.
    case none
    /// One does, and nobody at the camera has agreed yet.
    case waiting
    /// One looks, and the camera is away.
    case withoutCamera
    /// One has frames or audio.
    case active
}
