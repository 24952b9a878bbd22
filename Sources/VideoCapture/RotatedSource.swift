import Controls
import DevicePorts
import Media
import SoftwareEncoding

/// Rotates and mirrors a source's frames, in software. Used from one thread.
private struct PooledRotator {
    private let processor: FrameRotator
    let rotation: FrameRotation
    private var pool: FramePool
    private var rotatedFrames = 0

    init(from layout: FrameLayout, _ rotation: FrameRotation) throws(VideoEncodingError) {
        self.rotation = rotation
        processor = try FrameRotator(from: layout, rotation)
        pool = FramePool(byteCount: processor.target.byteCount)
    }

    var layout: FrameLayout { processor.target }

    /// The source's counts together with those of the rotation.
    func completed(_ statistics: VideoSourceStatistics) -> VideoSourceStatistics {
        var statistics = statistics
        statistics.rotatedFrames += rotatedFrames
        statistics.passes += rotatedFrames * processor.passCount
        return statistics
    }

    mutating func turned(_ frame: CapturedFrame) throws -> CapturedFrame {
        let rotated = pool.take()
        let result = frame.withBytes { bytes in
            rotated.withMutableBytes { memory in
                Result { () throws(VideoEncodingError) in try processor.rotate(bytes, into: memory) }
            }
        }
        try result.get()
        rotatedFrames += 1
        return CapturedFrame(
            layout: processor.target, captureTime: frame.captureTime, memory: rotated, takenAt: frame.takenAt)
    }
}

/// A source with rotated or mirrored frames. Used by the video thread.
package final class RotatedSource: VideoSource {
    private let source: any VideoSource
    private var rotator: PooledRotator

    package init(_ source: any VideoSource, _ rotation: FrameRotation) throws(VideoEncodingError) {
        self.source = source
        rotator = try PooledRotator(from: source.layout, rotation)
    }

    package var layout: FrameLayout { rotator.layout }
    package var frameRate: FrameRate { source.frameRate }
    package var colors: VideoColors? { source.colors }
    package var cameraModel: String? { source.cameraModel }
    package var origin: String { source.origin }
    package var endingNote: String? { source.endingNote }

    package var rates: (any FrameRateSelection)? { source.rates }
    package var statistics: VideoSourceStatistics { rotator.completed(source.statistics) }

    package func nextFrame() throws -> CapturedFrame? {
        guard let frame = try source.nextFrame() else { return nil }
        return try rotator.turned(frame)
    }
}

extension RotatedSource: RotatedControls {
    var rotation: FrameRotation { rotator.rotation }
    var upright: (any ControllableSource)? { source.controls }
}

/// Like `RotatedSource`, for one of several cameras. Used by the camera's thread.
package final class RotatedCamera: Camera {
    private let camera: any Camera
    private var rotator: PooledRotator

    package init(_ camera: any Camera, _ rotation: FrameRotation) throws(VideoEncodingError) {
        self.camera = camera
        rotator = try PooledRotator(from: camera.layout, rotation)
    }

    package var name: String { camera.name }
    package var model: String { camera.model }
    package var origin: String { camera.origin }
    package var endingNote: String? { camera.endingNote }
    package var layout: FrameLayout { rotator.layout }
    package let memoryKind = FrameMemoryKind.pooled
    package var frameRate: FrameRate { camera.frameRate }
    package var colors: VideoColors? { camera.colors }
    package var rates: (any FrameRateSelection)? { camera.rates }
    package var statistics: VideoSourceStatistics { rotator.completed(camera.statistics) }

    package func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        switch try camera.nextFrame(until: deadline) {
        case .captured(let frame): .captured(try rotator.turned(frame))
        case .none: .none
        case .stopped: .stopped
        }
    }
}

extension RotatedCamera: RotatedControls {
    var rotation: FrameRotation { rotator.rotation }
    var upright: (any ControllableSource)? { camera.controls }
}

/// Adapts a camera's controls to rotated frames: points and areas refer to the rotated frame.
protocol RotatedControls: ControllableSource {
    var rotation: FrameRotation { get }
    /// The unrotated source; `nil` if it has no controls.
    var upright: (any ControllableSource)? { get }
}

extension RotatedControls {
    package var controlOffers: [ControlOffer] { rotation.applied(to: upright?.controlOffers ?? []) }
    package var wishedControls: WishedControls { upright?.wishedControls ?? WishedControls() }
    package var cameraReport: CameraReport { rotation.applied(to: upright?.cameraReport ?? CameraReport()) }
    package func apply(_ changes: [ControlChange]) throws(ControlError) {
        try upright?.apply(rotation.undone(on: changes))
    }
    package func takeRefusal() -> ControlError? { upright?.takeRefusal() }
    package var lux: Double? { upright?.lux }
    package var reportsLight: Bool { upright?.reportsLight ?? false }
}

extension FrameRotation {
    private var quarters: Int { angle.rawValue / 90 }

    /// Maps an area of the frame to the rotated frame.
    func applied(to area: FrameArea) -> FrameArea {
        (0..<quarters).reduce(area) { area, _ in area.turnedClockwise }.mirrored(isMirrored)
    }

    /// Maps an area of the rotated frame to the frame.
    func undone(on area: FrameArea) -> FrameArea {
        (quarters..<4).reduce(area.mirrored(isMirrored)) { area, _ in area.turnedClockwise }
    }

    /// After a quarter turn, mirror and flip swap their roles.
    private func exchanged(_ name: ControlName) -> ControlName {
        guard quarters % 2 == 1 else { return name }
        return switch name {
        case .mirror: .flip
        case .flip: .mirror
        default: name
        }
    }

    func applied(to offers: [ControlOffer]) -> [ControlOffer] {
        let offered = offers.map { offer in
            let name = exchanged(offer.name)
            guard name != offer.name else { return offer }
            return offer.absence.map { ControlOffer(name, isMissing: $0) } ?? ControlOffer(name)
        }
        return ControlName.allCases.compactMap { name in offered.first { $0.name == name } }
    }

    func applied(to report: CameraReport) -> CameraReport {
        var rotated = report
        (rotated.values[.mirror], rotated.values[.flip]) =
            (report.values[exchanged(.mirror)], report.values[exchanged(.flip)])
        if case .point(let center) = report.values[.zoomCenter] {
            rotated.values[.zoomCenter] = .point(applied(to: FrameArea(at: center)).center)
        }
        return rotated
    }

    func undone(on changes: [ControlChange]) -> [ControlChange] {
        changes.map { change in
            switch change.value {
            case .area(let area): ControlChange(change.name, .area(undone(on: area)))
            case .point(let point): ControlChange(change.name, .point(undone(on: FrameArea(at: point)).center))
            case .flag: ControlChange(exchanged(change.name), change.value)
            default: change
            }
        }
    }
}
