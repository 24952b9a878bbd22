import Controls
import DevicePorts
import Media
import SoftwareEncoding

/// A manual change of the frames' orientation, applied after the camera.
struct FrameTurn: Hashable {
    /// Swaps left and right.
    var isMirrored = false
    /// Swaps top and bottom.
    var isFlipped = false

    var isIdentity: Bool { self == FrameTurn() }

    /// Maps an area between the frame and the turned frame. Works both ways, because turning twice changes nothing.
    func applied(to area: FrameArea) -> FrameArea { area.mirrored(isMirrored).flipped(isFlipped) }

    func applied(to point: FramePoint) -> FramePoint {
        FramePoint(x: isMirrored ? 1 - point.x : point.x, y: isFlipped ? 1 - point.y : point.y)
    }

    var rotation: FrameRotation {
        // Upside down equals half a turn plus mirroring.
        FrameRotation(isFlipped ? .half : .none, isMirrored: isMirrored != isFlipped)
    }
}

/// Crops, scales and turns frames in software. Its output is I420 of the frame's size.
final class ViewAdjuster {
    private(set) var adjustedFrames = 0
    private(set) var passCount = 0
    private var zoom: SoftwareScaler?
    private var rotator: (source: FrameLayout, turn: FrameTurn, rotator: FrameRotator)?
    private var pool: FramePool?

    /// - Parameter view: the part to show.
    func turn(_ frame: CapturedFrame, view: ZoomedView, _ turn: FrameTurn) throws -> CapturedFrame? {
        adjustedFrames += 1
        let isWhole = view.zoom <= 1
        // A frame that only needs planes is scaled to its own size.
        let zoomed = isWhole && (!turn.isIdentity || frame.layout.format.isPlanar) ? frame : try zoomed(frame, view)
        guard let zoomed, !turn.isIdentity else { return zoomed }
        return try turned(zoomed, turn)
    }

    private func zoomed(_ frame: CapturedFrame, _ view: ZoomedView) throws -> CapturedFrame? {
        let part = frame.layout.part(view.area)
        if zoom?.source != part || zoom?.target.size != frame.layout.size {
            zoom = try SoftwareScaler(
                from: part, to: frame.layout.size, fillsTarget: true, partOf: frame.layout.size)
        }
        guard let zoom else { return nil }
        passCount += zoom.passCount
        return try zoom.scale(
            CapturedFrame(
                layout: part, captureTime: frame.captureTime, memory: frame.memory, takenAt: frame.takenAt))
    }

    private func turned(_ frame: CapturedFrame, _ turn: FrameTurn) throws -> CapturedFrame {
        if rotator?.source != frame.layout || rotator?.turn != turn {
            let made = try FrameRotator(from: frame.layout, turn.rotation)
            if made.target.byteCount != rotator?.rotator.target.byteCount { pool = nil }
            rotator = (frame.layout, turn, made)
        }
        guard let rotator = rotator?.rotator else { return frame }
        if pool == nil { pool = FramePool(byteCount: rotator.target.byteCount) }
        guard let memory = pool?.take() else { return frame }
        let result = frame.withBytes { bytes in
            memory.withMutableBytes { target in
                Result { () throws(VideoEncodingError) in try rotator.rotate(bytes, into: target) }
            }
        }
        try result.get()
        passCount += rotator.passCount
        return CapturedFrame(
            layout: rotator.target, captureTime: frame.captureTime, memory: memory, takenAt: frame.takenAt)
    }
}

extension FrameLayout {
    /// An area of the frame as a layout in the same memory. Its position and sides are even because of chroma.
    fileprivate func part(_ area: FrameArea) -> FrameLayout {
        func even(_ part: Double, of side: Int) -> Int { Int(part * Double(side)) / 2 * 2 }
        let (width, height) = (max(2, even(area.width, of: size.width)), max(2, even(area.height, of: size.height)))
        let left = min(even(area.left, of: size.width), size.width - width)
        let top = min(even(area.top, of: size.height), size.height - height)
        let moved = planes.enumerated().map { index, plane in
            let (x, y) = index == 0 ? (left, top) : (left / 2, top / 2)
            let step = index == 0 ? format.bytesPerPixel ?? 1 : format == .nv12 ? 2 : 1
            return Plane(offset: plane.offset + y * plane.stride + x * step, stride: plane.stride)
        }
        return FrameLayout(
            format: format, modifier: modifier, size: FrameSize(width: width, height: height), planes: moved,
            byteCount: byteCount)
    }
}
