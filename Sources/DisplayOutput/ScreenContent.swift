import CDRM
import DevicePorts
import Media

/// How frames and text get onto the planes of a lit screen.
protocol ScreenContent: AnyObject {
    /// Whether the CPU converts every frame.
    var convertsAll: Bool { get }
    /// Whether the CPU converts frames like the last one.
    var convertsFrames: Bool { get }
    /// Interval between two converted frames.
    var conversionInterval: Duration { get }

    /// Asks the driver what it would accept, without showing anything.
    /// - Parameter attempt: throws the driver's error.
    func test(_ attempt: (AtomicRequest) throws(DisplayError) -> Void) throws(DisplayError)
    /// The page alone, shown when the display is lit.
    func firstRequest() -> AtomicRequest
    /// - Returns: the changes; `nil` for none.
    func request(for work: PreviewState.Work, now: MediaTimestamp) throws(DisplayError) -> AtomicRequest?
    /// Reports that the driver has accepted the last request.
    func committed()
    /// Reports that the last request is on the screen.
    func flipped()
    /// Reports that the driver cannot show frames of this layout directly.
    /// - Returns: whether there is another way.
    func refuses(_ layout: FrameLayout) -> Bool
    /// Frees memory that is no longer needed.
    func removeUnused(now: MediaTimestamp)
}

/// A CRTC in a mode.
struct ScreenPlace {
    let device: DRMDevice
    let crtc: UInt32
    /// Its bit number in masks.
    let crtcIndex: Int
    let size: FrameSize

    var whole: Area { Area(size) }

    /// Tries the ways to show content, best first, without showing anything yet.
    func content(
        _ planes: [Plane], lighting: AtomicRequest, makeScaler: @escaping Display.MakeScaler
    ) throws(DisplayError) -> any ScreenContent {
        var failure = DisplayError.frameUnreadable(reason: "no plane supports RGB")
        for arrangement in PlaneArrangement.candidates(planes.map(\.description), crtc: crtcIndex) {
            for scaling in arrangement.layers == nil ? [PlaneScaling.none] : PlaneScaling.inOrderOfTrial {
                do throws(DisplayError) {
                    let content = try content(planes, arrangement, scaling, makeScaler)
                    try content.test { (request) throws(DisplayError) in
                        try device.commit(
                            lighting.with(request), flags: DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_ALLOW_MODESET)
                    }
                    return content
                } catch {
                    failure = error
                }
            }
        }
        throw failure
    }

    private func content(
        _ planes: [Plane], _ arrangement: PlaneArrangement, _ scaling: PlaneScaling,
        _ makeScaler: @escaping Display.MakeScaler
    ) throws(DisplayError) -> any ScreenContent {
        func plane(_ id: UInt32) throws(DisplayError) -> Plane {
            guard let plane = planes.first(where: { $0.description.id == id }) else {
                throw .frameUnreadable(reason: "the plane is no longer available")
            }
            return plane
        }
        let page = try plane(arrangement.page)
        guard let layers = arrangement.layers else { return try DrawnContent(self, page, makeScaler) }
        return try LayeredContent(
            self, video: plane(layers.video), words: plane(layers.words), page: page, keepsPage: layers.keepsPage,
            scaling, makeScaler)
    }
}

/// What the planes' hardware can scale.
struct PlaneScaling: Hashable {
    var video: Bool
    /// Text and pages, which are drawn small then.
    var words: Bool

    static let none = PlaneScaling(video: false, words: false)
    static let inOrderOfTrial = [
        PlaneScaling(video: true, words: true), PlaneScaling(video: true, words: false), .none,
    ]
}

/// A pair of buffers: one is drawn into while the other is shown.
struct BufferPair {
    private var front: DrawnBuffer
    private(set) var back: DrawnBuffer

    /// - Parameter alpha: whether the highest byte is alpha.
    init(_ device: DRMDevice, alpha: Bool, _ size: FrameSize) throws(DisplayError) {
        let (format, code): (PixelFormat, FourCC) =
            alpha ? (.bgra, PlaneArrangement.transparent) : (.bgrx, PlaneArrangement.opaque)
        front = try DrawnBuffer(device, format, fourCC: code, size: size)
        back = try DrawnBuffer(device, format, fourCC: code, size: size)
    }

    /// Shows the buffer that was drawn into.
    mutating func swap() { (front, back) = (back, front) }

    /// Copies the front buffer to the back buffer.
    func copyFront() { back.bytes.copyMemory(from: UnsafeRawBufferPointer(front.bytes)) }
}
