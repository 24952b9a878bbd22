import Controls
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding

/// A source whose view can be changed while it gives frames: zoomed, mirrored and flipped, by the camera where that can, else
/// frame by frame on the way. Zoom glides. Used by the video thread.
public final class AdjustedSource: VideoSource {
    private let source: any VideoSource
    private let camera: (any ControllableSource)?
    /// Of the stream, which may have another shape than the frames.
    private let streamSize: FrameSize
    private let noCamera: String
    private var glide = ZoomGlide()
    private var isZoomReached = true
    /// What the camera does not do itself.
    private var turn = FrameTurn()
    private var wished = WishedControls()
    private var turner: ViewTurner?

    /// - Parameters:
    ///   - streamSize: the largest that is encoded.
    ///   - noCamera: why a source that is no camera has no controls, for people.
    public init(
        _ source: any VideoSource, streamSize: FrameSize, noCamera: String = "the test picture comes from no camera"
    ) {
        self.source = source
        self.streamSize = streamSize
        self.noCamera = noCamera
        camera = source as? any ControllableSource
    }

    public var layout: FrameLayout { source.layout }
    public var memoryKind: FrameMemoryKind { source.memoryKind }
    public var frameRate: FrameRate { source.frameRate }
    public var colors: VideoColors? { source.colors }
    public var deviceName: String? { source.deviceName }
    public var endingNote: String? { source.endingNote }

    public var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.rotatedFrames += turner?.turnedFrames ?? 0
        statistics.passes += turner?.passCount ?? 0
        return statistics
    }

    public func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        followZoom(at: frame.captureTime)
        let view = zoomsItself ? glide.view(at: frame.captureTime) : ZoomedView()
        guard !turn.isIdentity || view.zoom > 1 else { return frame }
        if turner == nil { turner = ViewTurner() }
        return try turner?.turn(frame, view: view, turn) ?? frame
    }

    /// A camera that zooms is asked anew with each frame of the way.
    private func followZoom(at time: MediaTimestamp) {
        guard !isZoomReached, !zoomsItself else { return }
        isZoomReached = glide.isOver(at: time)
        let view = glide.view(at: time)
        // What it refuses now it refused before: the frames go on.
        try? camera?.apply([
            ControlChange(.zoom, .number(view.zoom)), ControlChange(.zoomCentre, .point(view.centre)),
        ])
    }

    private func cameraOffers(_ name: ControlName) -> Bool {
        camera?.controlOffers.contains { $0.name == name && $0.absence == nil } ?? false
    }

    /// Whether the processor takes a part of each frame.
    private var zoomsItself: Bool { !cameraOffers(.zoom) }
}

extension AdjustedSource: FrameSizeSelection {
    public var layouts: SourceLayouts { SourceLayouts(of: source) }
    public func selectSize(_ size: FrameSize) { (source as? any FrameSizeSelection)?.selectSize(size) }
}

extension AdjustedSource: FrameRateSelection {
    public func selectFrameRate(_ rate: FrameRate) { (source as? any FrameRateSelection)?.selectFrameRate(rate) }
}

extension AdjustedSource: ControllableSource {
    public var controlOffers: [ControlOffer] {
        var offers = camera?.controlOffers.filter { $0.absence == nil } ?? []
        if !cameraOffers(.zoom) { offers += zoomOffers }
        if !cameraOffers(.zoomCentre) { offers.append(ControlOffer(.zoomCentre)) }
        if !cameraOffers(.mirror) { offers.append(ControlOffer(.mirror)) }
        if !cameraOffers(.flip) { offers.append(ControlOffer(.flip)) }
        let own = camera?.controlOffers ?? []
        return offers.completed { name in own.first { $0.name == name }?.absence ?? self.noCamera }
    }

    /// A part of a frame that has more pixels than the stream.
    private var zoomOffers: [ControlOffer] {
        let size = source.layout.size
        let largest = min(
            Double(size.width) / Double(streamSize.width), Double(size.height) / Double(streamSize.height))
        guard largest > 1 else {
            return [
                ControlOffer(.zoom, isMissing: "frames of \(size) have no more pixels than the stream's \(streamSize)")
            ]
        }
        return [ControlOffer(.zoom, range: 1...largest)]
    }

    public var wishedControls: WishedControls { wished }

    public var cameraReport: CameraReport {
        var report = camera?.cameraReport ?? CameraReport()
        if zoomsItself {
            let view = glide.view(at: MonotonicClock.now())
            report.values[.zoom] = .number(view.zoom)
            report.values[.zoomCentre] = .point(view.centre)
        } else if case .point(let centre) = report.values[.zoomCentre] {
            report.values[.zoomCentre] = .point(turn.applied(to: centre))
        }
        if !cameraOffers(.mirror) { report.values[.mirror] = .flag(turn.isMirrored) }
        if !cameraOffers(.flip) { report.values[.flip] = .flag(turn.isFlipped) }
        return report
    }

    public func apply(_ changes: [ControlChange]) throws(ControlError) {
        let now = MonotonicClock.now()
        var (forCamera, turned, view): ([ControlChange], FrameTurn, ZoomedView) = ([], turn, glide.target)
        for change in changes {
            switch (change.name, change.value) {
            case (.mirror, .flag(let isOn)) where !cameraOffers(.mirror): turned.isMirrored = isOn
            case (.flip, .flag(let isOn)) where !cameraOffers(.flip): turned.isFlipped = isOn
            case (.zoom, .number(let zoom)): view.zoom = zoom
            case (.zoomCentre, .point(let point)): view.centre = unturned(point)
            case (let name, .area(let area)): forCamera.append(ControlChange(name, .area(try unseen(area, name, now))))
            default: forCamera.append(change)
            }
        }
        if !forCamera.isEmpty { try camera?.apply(forCamera) }
        turn = turned
        if view != glide.target {
            glide.glide(to: view, from: now)
            isZoomReached = false
        }
        wished.take(changes)
    }

    // MARK: From frames as they are seen to frames as the camera gives them

    /// Bars that fill the stream's frame are no part of the source's.
    private func withoutBars(_ area: FrameArea) -> FrameArea {
        let fit = Letterbox(source.layout.size, into: streamSize)
        let (width, height) = (Double(streamSize.width), Double(streamSize.height))
        return FrameArea(
            left: (area.left * width - Double(fit.left)) / Double(fit.size.width),
            top: (area.top * height - Double(fit.top)) / Double(fit.size.height),
            width: area.width * width / Double(fit.size.width), height: area.height * height / Double(fit.size.height))
    }

    private func unturned(_ point: FramePoint) -> FramePoint {
        let seen = turn.applied(to: withoutBars(FrameArea(at: point))).centre
        return FramePoint(x: min(max(0, seen.x), 1), y: min(max(0, seen.y), 1))
    }

    private func unseen(
        _ area: FrameArea, _ name: ControlName, _ now: MediaTimestamp
    ) throws(ControlError) -> FrameArea {
        guard let inFrame = withoutBars(area).clipped else {
            throw .unusableValue(
                name, value: "\(ControlValue.area(area))", rule: "within the frame: the bars beside it show nothing")
        }
        let turned = turn.applied(to: inFrame)
        return zoomsItself ? glide.view(at: now).area.part(turned) : turned
    }
}
