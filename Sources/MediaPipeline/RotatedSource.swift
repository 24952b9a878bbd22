import Controls
import DevicePorts
import Media
import SoftwareEncoding

/// A source whose frames are rotated or mirrored, in software. Used by the video thread.
final class RotatedSource: VideoSource {
    private let source: any VideoSource
    private let rotator: FrameRotator
    private let rotation: FrameRotation
    private var pool: FramePool
    private var rotatedFrames = 0

    init(_ source: any VideoSource, _ rotation: FrameRotation) throws(VideoEncodingError) {
        self.source = source
        self.rotation = rotation
        rotator = try FrameRotator(from: source.layout, rotation)
        pool = FramePool(byteCount: rotator.target.byteCount)
    }

    var layout: FrameLayout { rotator.target }
    var frameRate: FrameRate { source.frameRate }
    var colors: VideoColors? { source.colors }
    var deviceName: String? { source.deviceName }
    var endingNote: String? { source.endingNote }

    var statistics: VideoSourceStatistics {
        var statistics = source.statistics
        statistics.rotatedFrames += rotatedFrames
        statistics.passes += rotatedFrames * rotator.passCount
        return statistics
    }

    func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        let rotated = pool.take()
        let result = frame.withBytes { bytes in
            rotated.withMutableBytes { memory in
                Result { () throws(VideoEncodingError) in try rotator.rotate(bytes, into: memory) }
            }
        }
        try result.get()
        rotatedFrames += 1
        return CapturedFrame(layout: rotator.target, captureTime: frame.captureTime, memory: rotated)
    }
}

extension RotatedSource: FrameRateSelection {
    func selectFrameRate(_ rate: FrameRate) { (source as? any FrameRateSelection)?.selectFrameRate(rate) }
}

extension RotatedSource: ControllableSource {
    private var camera: (any ControllableSource)? { source as? any ControllableSource }

    var controlOffers: [ControlOffer] { camera?.controlOffers ?? [] }
    var wishedControls: WishedControls { camera?.wishedControls ?? WishedControls() }

    var cameraReport: CameraReport {
        var report = camera?.cameraReport ?? CameraReport()
        if case .point(let centre) = report.values[.zoomCentre] {
            report.values[.zoomCentre] = .point(rotation.applied(to: FrameArea(at: centre)).centre)
        }
        return report
    }

    func apply(_ changes: [ControlChange]) throws(ControlError) {
        let unrotated = changes.map { change in
            switch change.value {
            case .area(let area): ControlChange(change.name, .area(rotation.undone(on: area)))
            case .point(let point): ControlChange(change.name, .point(rotation.undone(on: FrameArea(at: point)).centre))
            default: change
            }
        }
        try camera?.apply(unrotated)
    }
}

extension FrameRotation {
    private var quarters: Int { angle.rawValue / 90 }

    /// Where a part of the frame is in the rotated one.
    func applied(to area: FrameArea) -> FrameArea {
        (0..<quarters).reduce(area) { area, _ in area.turnedClockwise }.mirrored(isMirrored)
    }

    /// Where a part of the rotated frame is in the frame.
    func undone(on area: FrameArea) -> FrameArea {
        (quarters..<4).reduce(area.mirrored(isMirrored)) { area, _ in area.turnedClockwise }
    }
}
