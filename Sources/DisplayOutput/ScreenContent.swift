import CDRM
import DevicePorts
import Media

/// How frames and words come to a lit screen's planes.
protocol ScreenContent: AnyObject {
    /// The processor makes every frame.
    var convertsAll: Bool { get }
    /// The processor makes frames like the last one.
    var convertsFrames: Bool { get }
    /// Between two frames that the processor makes.
    var conversionInterval: Duration { get }

    /// Asks the driver what it would take, without showing anything.
    /// - Parameter attempt: throws what the driver says.
    func test(_ attempt: (AtomicRequest) throws(DisplayError) -> Void) throws(DisplayError)
    /// The page alone, as the display is lit.
    func firstRequest() -> AtomicRequest
    /// - Returns: what changes; `nil` for nothing.
    func request(for work: PreviewState.Work, now: MediaTimestamp) throws(DisplayError) -> AtomicRequest?
    /// The driver has taken the last request.
    func committed()
    /// It is on the screen.
    func flipped()
    /// The driver does not take frames of this layout as they are.
    /// - Returns: whether there is another way.
    func refuses(_ layout: FrameLayout) -> Bool
    /// Lets go of memory that is needed no more.
    func removeUnused(now: MediaTimestamp)
}

/// A CRTC in a mode.
struct ScreenPlace {
    let device: DRMDevice
    let crtc: UInt32
    /// Its bit in masks.
    let crtcIndex: Int
    let size: FrameSize

    var whole: Area { Area(size) }

    /// Tries the ways to show something, the best one first, without showing anything yet.
    func content(
        _ planes: [Plane], lighting: AtomicRequest, makeScaler: @escaping Display.MakeScaler
    ) throws(DisplayError) -> any ScreenContent {
        var failure = DisplayError.frameUnreadable(reason: "no plane takes RGB")
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
                throw .frameUnreadable(reason: "the plane has gone")
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

/// What the planes' hardware scales.
struct PlaneScaling: Hashable {
    var video: Bool
    /// Words and pages, which are drawn small then.
    var words: Bool

    static let none = PlaneScaling(video: false, words: false)
    static let inOrderOfTrial = [
        PlaneScaling(video: true, words: true), PlaneScaling(video: true, words: false), .none,
    ]
}

/// Two buffers, one of which is drawn into while the other one is shown.
struct BufferPair {
    private var front: DrawnBuffer
    private(set) var back: DrawnBuffer

    /// - Parameter alpha: the highest byte says how much is seen.
    init(_ device: DRMDevice, alpha: Bool, _ size: FrameSize) throws(DisplayError) {
        let (format, code): (PixelFormat, FourCC) =
            alpha ? (.bgra, PlaneArrangement.transparent) : (.bgrx, PlaneArrangement.opaque)
        front = try DrawnBuffer(device, format, fourCC: code, size: size)
        back = try DrawnBuffer(device, format, fourCC: code, size: size)
    }

    /// The one that was drawn into is shown from now on.
    mutating func swap() { (front, back) = (back, front) }

    /// The back becomes as the front is.
    func copyFront() { back.bytes.copyMemory(from: UnsafeRawBufferPointer(front.bytes)) }
}
