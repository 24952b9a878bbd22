import Controls
import Media

/// A camera or a source: the properties of its frames, known before the first one, and the device's other abilities.
public protocol FrameProvider: AnyObject {
    /// The layout of every frame, except those of a size chosen by `sizes`.
    var layout: FrameLayout { get }
    /// The memory of every frame, while the device works.
    var memoryKind: FrameMemoryKind { get }
    var frameRate: FrameRate { get }
    /// The colors of every frame, for encoders; `nil` if the device does not report them.
    var colors: VideoColors? { get }
    /// The requested flips that the device performs itself: all of them, or none.
    var flips: FrameFlips { get }
    /// The rotation that shows the frames upright, such as for a movie recorded on its side. The code that opens the
    /// source applies it before the rotation requested by a person.
    var ownRotation: FrameRotation { get }
    /// Counted since the device was opened.
    var statistics: VideoSourceStatistics { get }

    /// `nil` for a device with one frame size.
    var sizes: (any FrameSizeSelection)? { get }
    /// `nil` for a device with one frame rate.
    var rates: (any FrameRateSelection)? { get }
    /// `nil` without controls.
    var controls: (any ControllableSource)? { get }
}

extension FrameProvider {
    public var flips: FrameFlips { FrameFlips() }
    public var ownRotation: FrameRotation { FrameRotation() }
    public var sizes: (any FrameSizeSelection)? { nil }
    public var rates: (any FrameRateSelection)? { nil }
    public var controls: (any ControllableSource)? { nil }

    public var layouts: SourceLayouts { sizes?.layouts ?? SourceLayouts(layout) }
    /// The source's `controlOffers`; all missing if it has no controls.
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
