/// How a computer uses the camera at present, as far as it matters to the device.
public enum WebcamUse: Hashable, Sendable {
    /// No program there watches or records.
    case none
    /// One wants to, and the person at the camera has not agreed yet.
    case waiting
    /// One is watching, and the camera is missing.
    case withoutCamera
    /// One receives frames or audio.
    case active
}
