import Controls
import Media

/// The part of the sensor that a stream shows, and how small it may become.
struct CropRange: Hashable {
    /// All that the mode can show in the stream's shape, in the sensor's pixels.
    private let whole: CameraControl.Rectangle
    private let bounds: CameraControl.Rectangle
    /// Where a pixel of the sensor's mode is one of the stream.
    let largestZoom: Double

    /// - Parameters:
    ///   - control: ScalerCrop, as the camera is configured.
    ///   - mode: `nil` where it is not known: then each pixel of the sensor counts.
    /// - Returns: `nil` where there is nothing to choose.
    init?(_ control: CameraControl, size: FrameSize, mode: SensorMode?) {
        guard let range = control.rectangles, range.bounds.width >= 1, range.bounds.height >= 1, size.width > 0,
            size.height > 0
        else { return nil }
        bounds = range.bounds
        let scale = min(bounds.width / Double(size.width), bounds.height / Double(size.height))
        let (width, height) = (Double(size.width) * scale, Double(size.height) * scale)
        whole = CameraControl.Rectangle(
            bounds.left + (bounds.width - width) / 2, bounds.top + (bounds.height - height) / 2, width, height)
        // A mode that adds neighbours has fewer pixels than the sensor.
        let boundsWidth = range.bounds.width
        let pixels = mode.map { Double($0.size.width) / boundsWidth } ?? 1
        let byPixels = whole.width * pixels / Double(size.width)
        let byCamera = min(whole.width / max(1, range.least.width), whole.height / max(1, range.least.height))
        largestZoom = max(1, min(byPixels, byCamera))
    }

    /// - Parameter area: of all that the stream can show.
    /// - Returns: left, top, width and height, whole pixels within the bounds.
    func rectangle(_ area: FrameArea) -> [Double] {
        let left = (whole.left + area.left * whole.width).rounded(.down)
        let top = (whole.top + area.top * whole.height).rounded(.down)
        return [
            max(left, bounds.left), max(top, bounds.top), max(1, (area.width * whole.width).rounded(.down)),
            max(1, (area.height * whole.height).rounded(.down)),
        ]
    }

    func rectangle(_ view: ZoomedView) -> [Double] { rectangle(view.area) }

    func view(_ reported: (left: Double, top: Double, width: Double, height: Double)) -> ZoomedView? {
        guard reported.width >= 1, reported.height >= 1 else { return nil }
        return ZoomedView(
            zoom: whole.width / reported.width,
            centre: FramePoint(
                x: (reported.left + reported.width / 2 - whole.left) / whole.width,
                y: (reported.top + reported.height / 2 - whole.top) / whole.height))
    }
}
