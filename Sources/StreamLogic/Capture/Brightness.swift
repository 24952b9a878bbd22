/// The brightness in front of the camera, from the best measure available.
public enum Brightness: Hashable, Sendable {
    /// Illuminance of the scene, as measured by the camera's software.
    case lux(Double)
    /// Mean luma of the frame, 0 to 255. Auto exposure keeps it constant until it reaches its limits.
    case luma(Double)
}
