import Controls
import Media

/// A camera or a source: what its frames look like before the first one comes, and what the device behind it can do besides
/// giving them.
public protocol FrameProvider: AnyObject {
    /// Of every frame, except those of a size that `sizes` has chosen.
    var layout: FrameLayout { get }
    /// Of every frame, while the device works.
    var memoryKind: FrameMemoryKind { get }
    var frameRate: FrameRate { get }
    /// Of every frame, for encoders; `nil` when the device does not say.
    var colors: VideoColors? { get }
    /// The wished flips that the device does itself: all of them, or none.
    var flips: FrameFlips { get }
    /// The rotation that shows the frames upright: a movie may have been recorded on its side. The code that opens the
    /// source applies it, before the rotation that a person asked for.
    var ownRotation: FrameRotation { get }
    /// Counted since it was opened.
    var statistics: VideoSourceStatistics { get }

    /// `nil` for a device that gives frames in one size.
    var sizes: (any FrameSizeSelection)? { get }
    /// `nil` for a device that gives frames at one rate.
    var rates: (any FrameRateSelection)? { get }
    /// `nil` for what has no controls.
    var controls: (any ControllableSource)? { get }
}

extension FrameProvider {
    public var flips: FrameFlips { FrameFlips() }
    public var ownRotation: FrameRotation { FrameRotation() }
    public var sizes: (any FrameSizeSelection)? { nil }
    public var rates: (any FrameRateSelection)? { nil }
    public var controls: (any ControllableSource)? { nil }

    public var layouts: SourceLayouts { sizes?.layouts ?? SourceLayouts(layout) }
    /// As `ControllableSource.controlOffers`; all missing for what has no controls.
    public var offeredControls: [ControlOffer] {
        controls?.controlOffers ?? .allMissing("the camera has no controls")
    }
}

extension FrameProvider where Self: FrameSizeSelection {
    public var sizes: (any FrameSizeSelection)? { self }
}

extension FrameProvider where Self: FrameRateSelection {
    public var rates: (any FrameRateSelection)? { self }
}

extension FrameProvider where Self: ControllableSource {
    public var controls: (any ControllableSource)? { self }
}
