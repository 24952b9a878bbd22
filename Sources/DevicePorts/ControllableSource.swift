import Controls

/// A camera, or a source around one, whose controls can be changed while it gives frames. Used from the thread that asks for
/// frames.
public protocol ControllableSource: AnyObject {
    /// What it takes, each control once, in the table's order. Known from the start, and the same until another camera takes
    /// its place.
    var controlOffers: [ControlOffer] { get }

    /// Takes all of these with one frame, the next that the device can, or none of them. Areas and points are parts of the
    /// frames as they come out of here.
    /// - Parameter changes: that the offers allow.
    func apply(_ changes: [ControlChange]) throws(ControlError)

    /// What it was asked for so far.
    var wishedControls: WishedControls { get }

    /// Of the newest frame.
    var cameraReport: CameraReport { get }

    /// How bright it is in front of the camera, as far as it says so without being asked over a cable.
    var lux: Double? { get }

    /// Whether `lux` is ever known.
    var reportsLight: Bool { get }

    /// What the device refused since it was asked last, where another thread asks it.
    func takeRefusal() -> ControlError?
}

extension ControllableSource {
    public func takeRefusal() -> ControlError? { nil }
    public var lux: Double? { nil }
    public var reportsLight: Bool { false }
}
