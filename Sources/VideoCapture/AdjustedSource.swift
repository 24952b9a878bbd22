import Controls
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding

/// A source whose view can be changed while it gives frames: zoomed, mirrored and flipped, by the camera where that can, else
/// frame by frame on the way, as soon as the encoder is ready for frames that the processor has made. Zoom glides. Of several
/// cameras each keeps its view and its controls. Used by the video thread.
public final class AdjustedSource: VideoSource {
    let source: any VideoSource
    /// `nil` where there is one camera.
    package let switcher: CameraSwitcher?
    let camera: (any ControllableSource)?
    /// Of the stream, which may have another shape than the frames: the largest that is encoded.
    package var streamSize: FrameSize { didSet { keepZoomWithinRange() } }
    var view = CameraView()
    /// Of the other cameras, by their names.
    private var otherViews: [String: CameraView] = [:]
    private var cameraName: String?
    /// What each camera is set to when it is on for the first time.
    var initial: [ControlChange] = []
    /// Filters follow, which work on samples in planes.
    package var feedsFilters = false
    /// Of a camera that zooms, on the way.
    var zoomRefusal: ControlError?
    private var adjuster: ViewAdjuster?
    /// Frames come as the processor makes them.
    private(set) var isTurning = false
    /// Of the newest frame.
    private(set) var lastTime = MediaTimestamp.zero
    /// Given by the source, and not turned.
    private var lostFrames = 0

    /// - Parameters:
    ///   - switcher: what chooses among several cameras: the source itself.
    ///   - streamSize: the largest that is encoded.
    private init(_ source: any VideoSource, switcher: CameraSwitcher?, streamSize: FrameSize) {
        self.source = source
        self.streamSize = streamSize
        camera = source.controls
        self.switcher = switcher
        cameraName = switcher?.name
    }

    /// - Parameter streamSize: the largest that is encoded.
    public convenience init(_ source: any VideoSource, streamSize: FrameSize) {
        self.init(source, switcher: nil, streamSize: streamSize)
    }

    /// Of several cameras.
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
            // Frames that are no others for it are made at once.
            if wantsTurning != isTurning, made == plain { isTurning = wantsTurning }
            guard isTurning else { return frame }
            // A frame that cannot be read is lost; the next one may be whole.
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

    // MARK: For the encoder's sake

    /// As they come now.
    package var frames: SourceFrames { isTurning ? made : plain }

    /// Of the camera that is to be on next, as they will come; `nil` while there is none.
    package var nextCamera: SourceFrames? {
        guard let next = switcher?.next else { return nil }
        let isMade = next.camera.flatMap { otherViews[$0] }?.isMade ?? false
        return isMade || feedsFilters && !next.layouts.full.format.isPlanar ? made(of: next) : next
    }

    /// As they are to come next, once the encoder is ready for it; `nil` while they stay as they are.
    package var next: SourceFrames? { wantsTurning == isTurning ? nil : wantsTurning ? made : plain }

    /// The encoder is ready. Zoom starts to glide now, where the frames show it.
    package func handOver() {
        isTurning = wantsTurning
        if zoomsItself, !view.isZoomReached { view.glide.startAgain(at: lastTime) }
    }

    /// There is no encoder, and nobody sees how it gets there.
    package func showAtOnce() {
        settleZoom()
        isTurning = wantsTurning
    }

    /// Zoom is where it was to go; how frames come stays until the encoder is ready.
    package func settleZoom() {
        view.glide = ZoomGlide(view.glide.target)
        followZoom(at: lastTime)
    }

    private var plain: SourceFrames { switcher?.frames ?? SourceFrames(of: source) }

    private var made: SourceFrames { made(of: plain) }

    /// As the processor makes them.
    private func made(of frames: SourceFrames) -> SourceFrames {
        SourceFrames(
            layouts: SourceLayouts(FrameLayout(packed: .i420, size: frames.layouts.full.size)), memoryKind: .pooled,
            colors: frames.colors, camera: frames.camera)
    }

    private var wantsTurning: Bool {
        view.isMade || feedsFilters && !source.layout.format.isPlanar
            || !view.isZoomReached && view.glide.start.zoom > 1 && zoomsItself
    }

    // MARK: The camera that is on

    /// Another camera is on: it is shown as it was when it was on before.
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
            // Points and areas are parts of what is seen.
            applyWhatItHas(initial.filter(\.name.isOfView))
            settleZoom()
            applyWhatItHas(initial.filter { !$0.name.isOfView })
        } else {
            // It was opened anew, and shows all: at once what was shown before.
            view.isZoomReached = false
            settleZoom()
            // What was locked is locked.
            for change in view.given.changes(asFound: view.lastReport) { try? camera?.apply([change]) }
        }
        // The encoder is ready for what `nextCamera` said; for the rest it has to be.
        isTurning = wasMade && wantsTurning
    }

    private func applyWhatItHas(_ changes: [ControlChange]) {
        for change in changes where (try? controlOffers.check([change])) != nil { try? apply([change]) }
    }

    /// A camera that zooms is asked anew with each frame of the way.
    private func followZoom(at time: MediaTimestamp) {
        guard !view.isZoomReached else { return }
        view.isZoomReached = view.glide.isOver(at: time)
        guard !zoomsItself else { return }
        let shown = view.glide.view(at: time)
        do throws(ControlError) {
            try camera?.apply([
                ControlChange(.zoom, .number(shown.zoom)), ControlChange(.zoomCentre, .point(shown.centre)),
            ])
        } catch {
            // The frames go on, as they are.
            zoomRefusal = error
            view.isZoomReached = true
        }
    }

    func cameraOffers(_ name: ControlName) -> Bool {
        camera?.controlOffers.contains { $0.name == name && $0.absence == nil } ?? false
    }

    /// Whether the processor takes a part of each frame.
    var zoomsItself: Bool { !cameraOffers(.zoom) }
}

extension SourceFrames {
    init(of source: any VideoSource) {
        self.init(
            layouts: source.layouts, memoryKind: source.memoryKind,
            colors: source.layout.colors(reported: source.colors))
    }
}
