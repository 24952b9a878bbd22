/// How bright it is in front of the camera, by what there is to tell.
public enum Brightness: Hashable, Sendable {
    /// Of the scene, as the camera's software measures it.
    case lux(Double)
    /// The mean of the frame's luma, 0 to 255. Exposure keeps it the same until it can do no more.
    case luma(Double)
}
