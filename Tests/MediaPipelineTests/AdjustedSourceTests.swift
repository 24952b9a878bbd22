import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import SoftwareEncoding
import Synchronization
import SyntheticSources
import Testing

@testable import MediaPipeline
@testable import VideoCapture

/// 64x32 frames with four quarters of these lumas, starting at the top left.
private let quarters: [UInt8] = [40, 90, 140, 190]

private class QuarteredSource: VideoSource {
    var controls: (any ControllableSource)? { nil }
    let layout: FrameLayout
    let frameRate = FrameRate(framesPerSecond: 30)
    let endingNote: String? = nil
    private let start = MonotonicClock.now()
    private var count = 0

    init(_ format: PixelFormat = .i420) { layout = FrameLayout(packed: format, size: FrameSize(width: 64, height: 32)) }

    func nextFrame() -> CapturedFrame? {
        count += 1
        var bytes = [UInt8](repeating: 128, count: layout.byteCount)
        for row in 0..<32 {
            for column in 0..<64 { bytes[row * 64 + column] = quarters[row / 16 * 2 + column / 32] }
        }
        let time = start + frameRate.offset(ofFrame: count)
        return CapturedFrame(layout: layout, captureTime: time, memory: ArrayFrame(bytes))
    }
}

/// A source with a lens and its own zoom that records its control changes.
private final class ZoomingSource: QuarteredSource, ControllableSource {
    override var controls: (any ControllableSource)? { self }
    private(set) var asked: [[ControlChange]] = []
    var refuses = false
    let controlOffers = [
        ControlOffer(.zoom, range: 1...4), ControlOffer(.zoomCenter), ControlOffer(.focusPoint),
        ControlOffer(.lens, range: 0...10),
    ].completed { _ in "it lacks it" }
    var wishedControls = WishedControls()
    var cameraReport = CameraReport()

    func apply(_ changes: [ControlChange]) throws(ControlError) {
        guard !refuses else { throw .refused(.lens, reason: "S_CTRL: EIO") }
        asked.append(changes)
        wishedControls.take(changes)
    }
}

@Suite struct AdjustedSourceTests {
    private let streamSize = FrameSize(width: 32, height: 16)

    private func lumas(_ frame: CapturedFrame?) throws -> [UInt8] {
        let frame = try #require(frame)
        #expect(frame.layout.size == FrameSize(width: 64, height: 32))
        let stride = frame.layout.planes[0].stride
        return frame.withBytes { bytes in [(8, 8), (56, 8), (8, 24), (56, 24)].map { bytes[$1 * stride + $0] } }
    }

    @Test(arguments: [PixelFormat.i420, .nv12])
    func framesAreMirroredAndFlippedInSoftware(format: PixelFormat) throws {
        let source = AdjustedSource(QuarteredSource(format), streamSize: streamSize)
        #expect(try lumas(source.nextFrame()) == quarters)
        #expect(source.statistics.passes == 0 && source.next == nil)
        try source.apply([ControlChange(.mirror, .flag(true))])
        if format != .i420 {
            // Only once the encoder is ready for frames from the CPU.
            #expect(try lumas(source.nextFrame()) == quarters)
            #expect(source.next?.memoryKind == .pooled && source.next?.layouts.full.format == .i420)
            source.handOver()
            #expect(source.next == nil)
        }
        #expect(try lumas(source.nextFrame()) == [90, 40, 190, 140])
        try source.apply([ControlChange(.flip, .flag(true))])
        #expect(try lumas(source.nextFrame()) == [190, 140, 90, 40])
        try source.apply([ControlChange(.mirror, .flag(false))])
        #expect(try lumas(source.nextFrame()) == [140, 190, 40, 90])
        #expect(source.statistics.rotatedFrames == 3)
        #expect(source.cameraReport.values[.flip] == .flag(true) && source.cameraReport.values[.mirror] == .flag(false))
        try source.apply([ControlChange(.flip, .flag(false))])
        #expect(try lumas(source.nextFrame()) == quarters)
        if format != .i420 {
            #expect(source.next?.layouts.full.format == format)
            source.handOver()
        }
        #expect(try source.nextFrame()?.layout.format == format)
    }

    @Test func framesAreCroppedIfTheSourceCannotZoom() throws {
        try VirtualTime().run {
            let source = AdjustedSource(QuarteredSource(), streamSize: streamSize)
            #expect(source.controlOffers.first { $0.name == .zoom }?.range == 1...2)
            #expect(source.controlOffers.first { $0.name == .lens }?.absence == "this source is not a camera")
            let pattern = TestPattern(size: streamSize, frameRate: FrameRate(framesPerSecond: 30), stop: try EventFD())
            let offers = AdjustedSource(pattern, streamSize: streamSize).controlOffers
            #expect(offers.first { $0.name == .lens }?.absence == "the test pattern is not a camera")
            try source.apply([
                ControlChange(.zoom, .number(2)), ControlChange(.zoomCenter, .point(FramePoint(x: 0, y: 1))),
            ])
            var shown: [[UInt8]] = []
            for _ in 0..<15 { shown.append(try lumas(source.nextFrame())) }
            // Zoom moves smoothly: the first frame shows everything, the last one a single quarter.
            #expect(shown.first != shown.last && shown.last == [140, 140, 140, 140])
            // As far from the center as the view can go.
            #expect(source.cameraReport.values[.zoomCenter] == .point(FramePoint(x: 0.25, y: 0.75)))
        }
    }

    @Test func framesNoLargerThanTheStreamCannotBeZoomed() {
        let source = AdjustedSource(QuarteredSource(), streamSize: FrameSize(width: 64, height: 32))
        let absence = source.controlOffers.first { $0.name == .zoom }?.absence
        #expect(absence == "frames of 64x32 have no more pixels than the stream's 64x32")
    }

    @Test func largerStreamReducesTheZoomRange() throws {
        try VirtualTime().run {
            let source = AdjustedSource(QuarteredSource(), streamSize: streamSize)
            try source.apply([ControlChange(.zoom, .number(2))])
            source.streamSize = FrameSize(width: 48, height: 24)
            #expect(source.controlOffers.first { $0.name == .zoom }?.range == 1...(64.0 / 48))
            #expect(source.wishedControls[.zoom] == .number(64.0 / 48))
            source.streamSize = FrameSize(width: 64, height: 32)
            for _ in 0..<15 { _ = try source.nextFrame() }
            #expect(source.cameraReport.values[.zoom] == .number(1))
            #expect(try lumas(source.nextFrame()) == quarters)
        }
    }

    @Test func zoomingCameraIsSetForEachFrameWhileMoving() throws {
        try VirtualTime().run {
            let camera = ZoomingSource()
            let source = AdjustedSource(camera, streamSize: streamSize)
            try source.apply([ControlChange(.zoom, .number(4))])
            for _ in 0..<20 { #expect(try lumas(source.nextFrame()) == quarters) }
            let zooms = camera.asked.compactMap { changes -> Double? in
                if case .number(let zoom)? = changes.first?.value { zoom } else { nil }
            }
            #expect(zooms.last == 4 && zooms.count >= 8 && zooms == zooms.sorted())
            #expect(zip(zooms, zooms.dropFirst()).allSatisfy { $1 / $0 < 1.2 }, "\(zooms)")
            #expect(source.statistics.passes == 0)
            // The zoom is complete, so the camera is not set again.
            let count = camera.asked.count
            _ = source.statistics
            for _ in 0..<5 { _ = try source.nextFrame() }
            #expect(camera.asked.count == count)
        }
    }

    @Test func pointsReferToTheVisibleFrame() throws {
        let camera = ZoomingSource()
        // In a square stream, the frame has bars at the top and bottom.
        let source = AdjustedSource(camera, streamSize: FrameSize(width: 64, height: 64))
        func asked(_ area: FrameArea) throws -> FrameArea {
            try source.apply([ControlChange(.focusPoint, .area(area))])
            guard case .area(let area)? = camera.asked.last?.first?.value else { return .whole }
            return area
        }
        let corner = FrameArea(left: 0, top: 0.25, width: 0.25, height: 0.25)
        #expect(try asked(corner) == FrameArea(left: 0, top: 0, width: 0.25, height: 0.5))
        try source.apply([ControlChange(.mirror, .flag(true)), ControlChange(.flip, .flag(true))])
        #expect(try asked(corner) == FrameArea(left: 0.75, top: 0.5, width: 0.25, height: 0.5))
        #expect(throws: ControlError.self) { try asked(FrameArea(left: 0, top: 0, width: 1, height: 0.2)) }
    }

    /// In one command or in two, and in any order.
    @Test(arguments: [[[0, 1, 2]], [[2, 1, 0]], [[0], [1, 2]]])
    func pointsOfACommandReferToTheViewAfterIt(lines: [[Int]]) throws {
        let camera = ZoomingSource()
        let source = AdjustedSource(camera, streamSize: FrameSize(width: 64, height: 32))
        let changes = [
            ControlChange(.mirror, .flag(true)), ControlChange(.zoomCenter, .point(FramePoint(x: 0.25, y: 0.5))),
            ControlChange(.focusPoint, .area(FrameArea(left: 0, top: 0, width: 0.25, height: 0.5))),
        ]
        for line in lines { try source.apply(line.map { changes[$0] }) }
        source.settleZoom()
        let asked = camera.asked.flatMap { $0 }
        #expect(
            asked.contains(
                ControlChange(.focusPoint, .area(FrameArea(left: 0.75, top: 0, width: 0.25, height: 0.5)))))
        #expect(asked.last == ControlChange(.zoomCenter, .point(FramePoint(x: 0.75, y: 0.5))))
    }

    @Test func refusedChangeHasNoEffect() throws {
        let camera = ZoomingSource()
        camera.refuses = true
        let source = AdjustedSource(camera, streamSize: streamSize)
        #expect(throws: ControlError.refused(.lens, reason: "S_CTRL: EIO")) {
            try source.apply([ControlChange(.mirror, .flag(true)), ControlChange(.lens, .number(2))])
        }
        #expect(try lumas(source.nextFrame()) == quarters)
        #expect(source.wishedControls.changes.isEmpty)
    }

    /// A camera that mirrors by itself.
    private final class FlippingSource: QuarteredSource, ControllableSource {
        override var controls: (any ControllableSource)? { self }
        private(set) var asked: [ControlChange] = []
        let controlOffers = [ControlOffer(.mirror)].completed { _ in "it lacks it" }
        let wishedControls = WishedControls()
        var cameraReport = CameraReport()

        func apply(_ changes: [ControlChange]) {
            asked += changes
            for change in changes { cameraReport.values[change.name] = change.value }
        }
    }

    @Test func rotatedCamerasMirrorAndFlipSwapTheirRoles() throws {
        let camera = FlippingSource()
        let source = try RotatedSource(camera, FrameRotation(.clockwise90))
        let offers = Dictionary(uniqueKeysWithValues: source.controlOffers.map { ($0.name, $0.absence) })
        #expect(offers[.flip] == .some(nil) && offers[.mirror] == "it lacks it")
        #expect(source.controlOffers.map(\.name) == ControlName.allCases)
        try source.apply([ControlChange(.flip, .flag(true))])
        #expect(camera.asked == [ControlChange(.mirror, .flag(true))])
        #expect(source.cameraReport.values[.flip] == .flag(true) && source.cameraReport.values[.mirror] == nil)
        #expect(
            try RotatedSource(camera, FrameRotation(.half)).controlOffers.first { $0.name == .mirror }?.absence == nil)
    }

    @Test func frameSizeMayGrowWhileMirroring() throws {
        let adjuster = ViewAdjuster()
        for side in [32, 64, 16] {
            let layout = FrameLayout(packed: .i420, size: FrameSize(width: side, height: side))
            let frame = CapturedFrame(
                layout: layout, captureTime: .zero, memory: ArrayFrame([UInt8](repeating: 9, count: layout.byteCount)))
            let turned = try adjuster.turn(frame, view: ZoomedView(), FrameTurn(isMirrored: true))
            #expect(turned?.layout.size == layout.size)
        }
    }

    @Test(arguments: FrameRotation.Angle.allCases, [false, true])
    func pointsAreMappedToTheRotatedCamera(angle: FrameRotation.Angle, isMirrored: Bool) throws {
        let camera = ZoomingSource()
        let rotation = FrameRotation(angle, isMirrored: isMirrored)
        let source = try RotatedSource(camera, rotation)
        let frame = try #require(try source.nextFrame())
        let size = frame.layout.size
        // Wherever the darkest quarter is visible, the camera gets the point in its own upper left quarter.
        let places = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)]
        let lumas = frame.withBytes { bytes in
            places.map { bytes[Int($1 * Double(size.height)) * size.width + Int($0 * Double(size.width))] }
        }
        let seen = places[try #require(lumas.firstIndex(of: 40))]
        let area = FrameArea(left: seen.0 - 0.1, top: seen.1 - 0.1, width: 0.2, height: 0.2)
        try source.apply([ControlChange(.focusPoint, .area(area))])
        guard case .area(let asked)? = camera.asked.last?.first?.value else {
            Issue.record("\(camera.asked)")
            return
        }
        #expect(abs(asked.center.x - 0.25) < 1e-9 && abs(asked.center.y - 0.25) < 1e-9, "\(asked)")
    }
}
