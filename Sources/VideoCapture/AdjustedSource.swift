import Controls
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding

/// A source whose view can be zoomed, mirrored and flipped while it runs. The camera does this if it can; otherwise, each frame
/// is processed in software as soon as the encoder is ready for such frames. Zoom moves smoothly. With several cameras, each
/// keeps its own view and controls. Used by the video thread.
public final class AdjustedSource: VideoSource {
    let source: any VideoSource
    /// `nil` if there is only one camera.
    package let switcher: CameraSwitcher?
    let camera: (any ControllableSource)?
    /// The stream's largest encoded size. Its shape may differ from the frames'.
    package var streamSize: FrameSize { didSet { keepZoomWithinRange() } }
    var view = CameraView()
    /// Views of the other cameras, by name.
    private var otherViews: [String: CameraView] = [:]
    private var cameraName: String?
    /// The settings that each camera gets when it is first switched on.
    var initial: [ControlChange] = []
    /// Whether filters follow, which need planar samples.
    package var feedsFilters = false
    /// The error of a camera's own zoom while it was moving.
    var zoomRefusal: ControlError?
    private var adjuster: ViewAdjuster?
    /// Whether the CPU processes the frames.
    private(set) var isTurning = false
    /// The newest frame's time.
    private(set) var lastTime = MediaTimestamp.zero
    /// Frames from the source that could not be processed.
    private var lostFrames = 0

    /// - Parameters:
    ///   - switcher: the source itself, if it chooses among several cameras.
    ///   - streamSize: the largest encoded size.
    private init(_ source: any VideoSource, switcher: CameraSwitcher?, streamSize: FrameSize) {
        self.source = source
        self.streamSize = streamSize
        camera = source.controls
        self.switcher = switcher
        cameraName = switcher?.name
    }

    /// - Parameter streamSize: the largest encoded size.
    public convenience init(_ source: any VideoSource, streamSize: FrameSize) {
        self.init(source, switcher: nil, streamSize: streamSize)
    }

    /// For several cameras.
    package convenience init(_ switcher: CameraSwitcher, streamSize: FrameSize) {
        self.init(switcher, switcher: switcher, streamSize: streamSize)
    }

    public var layout: FrameLayout { source.layout }
    public var memoryKind: FrameMemoryKind { isTurning ? .pooled : source.memoryKind }
    public var frameRate: FrameRate { source.frameRate }
    public var colors: VideoColors? { source.colors }
    public var cameraModel: String? { source.cameraModel }
    public var origin: String { source.origin }
    public var sizes: (any FrameSizeSelection)? { source.sizes }
    public var rates: (any FrameRateSelection)? { source.rates }
    public var endingNote: String? { source.endingNote }

    public var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.rotatedFrames += adjuster?.adjustedFrames ?? 0
        statistics.passes += adjuster?.passCount ?? 0
        statistics.capturedFrames -= lostFrames
        statistics.droppedFrames += lostFrames
        return statistics
    }

    public func nextFrame() throws -> CapturedFrame? {
        while let frame = try source.nextFrame() {
            lastTime = frame.captureTime
            followCamera()
            followZoom(at: frame.captureTime)
            // If processing does not change the frames' properties, it can switch at once.
            if wantsTurning != isTurning, made == plain { isTurning = wantsTurning }
            guard isTurning else { return frame }
            // An unreadable frame is dropped; the next one may be intact.
            if let turned = try? turned(frame) { return turned }
            lostFrames += 1
        }
        return nil
    }

    private func turned(_ frame: CapturedFrame) throws -> CapturedFrame? {
        let shown = zoomsItself ? view.glide.view(at: frame.captureTime) : ZoomedView()
        let adjuster = adjuster ?? ViewAdjuster()
        self.adjuster = adjuster
        return try adjuster.turn(frame, view: shown, view.turn)
    }

    // MARK: For the encoder

    /// The present frames' properties.
    package var frames: SourceFrames { isTurning ? made : plain }

    /// Properties of the next camera's frames; `nil` if no switch is under way.
    package var nextCamera: SourceFrames? {
        guard let next = switcher?.next else { return nil }
        let isMade = next.camera.flatMap { otherViews[$0] }?.isMade ?? false
        return isMade || feedsFilters && !next.layouts.full.format.isPlanar ? made(of: next) : next
    }

    /// The frames' properties after the coming change, which waits for the encoder; `nil` for no change.
    package var next: SourceFrames? { wantsTurning == isTurning ? nil : wantsTurning ? made : plain }

    /// The encoder is ready. If zoom is done in the frames, it starts to move now.
    package func handOver() {
        isTurning = wantsTurning
        if zoomsItself, !view.isZoomReached { view.glide.startAgain(at: lastTime) }
    }

    /// Without an encoder, the transition is invisible.
    package func showAtOnce() {
        settleZoom()
        isTurning = wantsTurning
    }

    /// Finishes zooming at once. The frames' properties stay until the encoder is ready.
    package func settleZoom() {
        view.glide = ZoomGlide(view.glide.target)
        followZoom(at: lastTime)
    }

    private var plain: SourceFrames { switcher?.frames ?? SourceFrames(of: source) }

    private var made: SourceFrames { made(of: plain) }

    /// The properties of frames that the CPU produces.
    private func made(of frames: SourceFrames) -> SourceFrames {
        SourceFrames(
            layouts: SourceLayouts(FrameLayout(packed: .i420, size: frames.layouts.full.size)), memoryKind: .pooled,
            colors: frames.colors, camera: frames.camera)
    }

    private var wantsTurning: Bool {
        view.isMade || feedsFilters && !source.layout.format.isPlanar
            || !view.isZoomReached && view.glide.start.zoom > 1 && zoomsItself
    }

    // MARK: The active camera

    /// After a switch, restores the view that the camera had when it was last active.
    private func followCamera() {
        guard let switcher, switcher.name != cameraName else { return }
        view.lastReport = switcher.reportBefore
        if let cameraName { otherViews[cameraName] = view }
        cameraName = switcher.name
        let known = otherViews[switcher.name]
        zoomRefusal = nil
        let wasMade = known?.isMade ?? false || feedsFilters && !switcher.layout.format.isPlanar
        view = known ?? CameraView()
        if known == nil {
            // Points and areas refer to the view, so set the view first.
            applyWhatItHas(initial.filter(\.name.isOfView))
            settleZoom()
            applyWhatItHas(initial.filter { !$0.name.isOfView })
        } else {
            // The camera was reopened and shows everything; restore the previous view at once.
            view.isZoomReached = false
            settleZoom()
            // Restore locked controls.
            for change in view.given.changes(asFound: view.lastReport) { try? camera?.apply([change]) }
        }
        // The encoder is ready for what `nextCamera` announced, but not yet for anything else.
        isTurning = wasMade && wantsTurning
    }

    private func applyWhatItHas(_ changes: [ControlChange]) {
        for change in changes where (try? controlOffers.check([change])) != nil { try? apply([change]) }
    }

    /// Sets a camera's own zoom again for each frame while it moves.
    private func followZoom(at time: MediaTimestamp) {
        guard !view.isZoomReached else { return }
        view.isZoomReached = view.glide.isOver(at: time)
        guard !zoomsItself else { return }
        let shown = view.glide.view(at: time)
        do throws(ControlError) {
            try camera?.apply([
                ControlChange(.zoom, .number(shown.zoom)), ControlChange(.zoomCenter, .point(shown.center)),
            ])
        } catch {
            // The frames continue without the zoom.
            zoomRefusal = error
            view.isZoomReached = true
        }
    }

    func cameraOffers(_ name: ControlName) -> Bool {
        camera?.controlOffers.contains { $0.name == name && $0.absence == nil } ?? false
    }

    /// Whether the CPU crops each frame.
    var zoomsItself: Bool { !cameraOffers(.zoom) }
}

extension SourceFrames {
    init(of source: any VideoSource) {
        self.init(
            layouts: source.layouts, memoryKind: source.memoryKind,
            colors: source.layout.colors(reported: source.colors))
    }
}
