import Controls

/// A camera, or a source that wraps one, whose controls can be changed during capture. Used from the thread that
/// requests frames.
public protocol ControllableSource: AnyObject {
    /// The supported controls, each once, in the table's order. Known from the start, and constant until another camera
    /// replaces this one.
    var controlOffers: [ControlOffer] { get }

    /// Applies all of these with one frame, the next possible one, or none of them. Areas and points are fractions of
    /// the frames that this source outputs.
    /// - Parameter changes: must be valid according to the offers.
    func apply(_ changes: [ControlChange]) throws(ControlError)

    /// All control values requested so far.
    var wishedControls: WishedControls { get }

    /// The newest frame's report.
    var cameraReport: CameraReport { get }

    /// Brightness in front of the camera, if it is reported with the frames rather than queried over a cable.
    var lux: Double? { get }

    /// Whether `lux` can ever be known.
    var reportsLight: Bool { get }

    /// The device's refusal since the last call, if another thread communicates with the device.
    func takeRefusal() -> ControlError?
}

extension ControllableSource {
    public func takeRefusal() -> ControlError? { nil }
    public var lux: Double? { nil }
    public var reportsLight: Bool { false }
}
