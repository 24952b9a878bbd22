import Controls
import DevicePorts
import LinuxIO
import Media

/// The camera's controls, and the view controls that the CPU handles for it.
extension AdjustedSource: ControllableSource {
    public var controlOffers: [ControlOffer] {
        var offers = camera?.controlOffers.filter { $0.absence == nil } ?? []
        if !cameraOffers(.zoom) { offers += zoomOffers }
        if !cameraOffers(.mirror) { offers.append(turnOffer(.mirror)) }
        if !cameraOffers(.flip) { offers.append(turnOffer(.flip)) }
        let own = camera?.controlOffers ?? []
        return offers.completed { name in
            own.first { $0.name == name }?.absence ?? "\(self.source.origin) is not a camera"
        }
    }

    /// Chroma has half as many samples.
    private var hasEvenSides: Bool { source.layout.size.width % 2 == 0 && source.layout.size.height % 2 == 0 }

    private func turnOffer(_ name: ControlName) -> ControlOffer {
        hasEvenSides
            ? ControlOffer(name) : ControlOffer(name, isMissing: "frames of \(source.layout.size) have an odd side")
    }

    /// Zoom by cropping, for frames with more pixels than the stream.
    private var zoomOffers: [ControlOffer] {
        let size = source.layout.size
        guard hasEvenSides else { return [turnOffer(.zoom), turnOffer(.zoomCenter)] }
        guard largestZoom > 1 else {
            let reason = "frames of \(size) have no more pixels than the stream's \(streamSize)"
            return [ControlOffer(.zoom, isMissing: reason), ControlOffer(.zoomCenter, isMissing: reason)]
        }
        return [ControlOffer(.zoom, range: 1...largestZoom), ControlOffer(.zoomCenter)]
    }

    /// The zoom at which one frame pixel becomes one stream pixel.
    private var largestZoom: Double {
        let size = source.layout.size
        return max(
            1, min(Double(size.width) / Double(streamSize.width), Double(size.height) / Double(streamSize.height)))
    }

    public var wishedControls: WishedControls { view.wished }
    public func takeRefusal() -> ControlError? {
        defer { zoomRefusal = nil }
        return zoomRefusal ?? camera?.takeRefusal()
    }

    public var lux: Double? { camera?.lux }

    public var cameraReport: CameraReport {
        var report = camera?.cameraReport ?? CameraReport()
        if zoomsItself {
            let shown = view.glide.view(at: lastTime)
            report.values[.zoom] = .number(shown.zoom)
            // A center too close to an edge is moved inside.
            report.values[.zoomCenter] = .point(view.turn.applied(to: shown.area.center))
        } else if case .point(let center) = report.values[.zoomCenter] {
            report.values[.zoomCenter] = .point(view.turn.applied(to: center))
        }
        let turn = isTurning ? view.turn : FrameTurn()
        if !cameraOffers(.mirror) { report.values[.mirror] = .flag(turn.isMirrored) }
        if !cameraOffers(.flip) { report.values[.flip] = .flag(turn.isFlipped) }
        return report
    }

    public func apply(_ changes: [ControlChange]) throws(ControlError) {
        let now = MonotonicClock.now()
        let turn = turn(after: changes)
        let target = target(after: changes, turn)
        let shown = target == view.glide.target ? view.glide.view(at: now) : target
        var forCamera: [ControlChange] = []
        for change in changes {
            switch (change.name, change.value) {
            case (.zoom, _), (.zoomCenter, _): break
            case (.mirror, _) where !cameraOffers(.mirror), (.flip, _) where !cameraOffers(.flip): break
            case (let name, .area(let area)):
                let inFrame = try seen.area(area, of: name, turned: turn)
                forCamera.append(ControlChange(name, .area(zoomsItself ? shown.area.part(inFrame) : inFrame)))
            default: forCamera.append(change)
            }
        }
        if !forCamera.isEmpty { try camera?.apply(forCamera) }
        view.given.take(forCamera)
        view.turn = turn
        show(target, from: now)
        view.wished.take(changes)
    }

    /// All changes of a command take effect at the same frame, so its points refer to the view after them.
    private func turn(after changes: [ControlChange]) -> FrameTurn {
        var turn = view.turn
        for change in changes {
            switch (change.name, change.value) {
            case (.mirror, .flag(let isOn)) where !cameraOffers(.mirror): turn.isMirrored = isOn
            case (.flip, .flag(let isOn)) where !cameraOffers(.flip): turn.isFlipped = isOn
            default: break
            }
        }
        return turn
    }

    private func target(after changes: [ControlChange], _ turn: FrameTurn) -> ZoomedView {
        var target = view.glide.target
        for change in changes {
            switch (change.name, change.value) {
            case (.zoom, .number(let zoom)): target.zoom = zoom
            case (.zoomCenter, .point(let point)): target.center = seen.point(point, turned: turn)
            default: break
            }
        }
        return target
    }

    private func show(_ shown: ZoomedView, from time: MediaTimestamp) {
        guard shown != view.glide.target else { return }
        view.glide.glide(to: shown, from: time)
        view.isZoomReached = false
        view.isZoomedOnTheWay = zoomsItself
    }

    /// A larger stream leaves less room for zooming.
    func keepZoomWithinRange() {
        guard zoomsItself, view.glide.target.zoom > largestZoom else { return }
        show(ZoomedView(zoom: largestZoom, center: view.glide.target.center), from: MonotonicClock.now())
        view.wished.take([ControlChange(.zoom, .number(largestZoom))])
    }

    /// Applies these settings to each camera when it is first switched on. The active camera has them already.
    package func keepForOthers(_ controls: [ControlChange]) { initial = controls }

    private var seen: SeenFrame { SeenFrame(of: source.layout.size, within: streamSize) }
}
