import Controls
import Media

/// The part of the sensor that a stream shows, and how far it can shrink.
struct CropRange: Hashable {
    /// Everything that the mode can show in the stream's shape, in sensor pixels.
    private let whole: CameraControl.Rectangle
    private let bounds: CameraControl.Rectangle
    /// The zoom at which one pixel of the sensor mode becomes one stream pixel.
    let largestZoom: Double

    /// - Parameters:
    ///   - control: ScalerCrop of the configured camera.
    ///   - mode: `nil` if unknown; then every sensor pixel counts.
    /// - Returns: `nil` if there is nothing to choose.
    init?(_ control: CameraControl, size: FrameSize, mode: SensorMode?) {
        guard let range = control.rectangles, range.bounds.width >= 1, range.bounds.height >= 1, size.width > 0,
            size.height > 0
        else { return nil }
        bounds = range.bounds
        let scale = min(bounds.width / Double(size.width), bounds.height / Double(size.height))
        let (width, height) = (Double(size.width) * scale, Double(size.height) * scale)
        whole = CameraControl.Rectangle(
            bounds.left + (bounds.width - width) / 2, bounds.top + (bounds.height - height) / 2, width, height)
        // A mode that bins pixels has fewer than the sensor.
        let boundsWidth = range.bounds.width
        let pixels = mode.map { Double($0.size.width) / boundsWidth } ?? 1
        let byPixels = whole.width * pixels / Double(size.width)
        let byCamera = min(whole.width / max(1, range.least.width), whole.height / max(1, range.least.height))
        largestZoom = max(1, min(byPixels, byCamera))
    }

    /// - Parameter area: a part of everything that the stream can show.
    /// - Returns: left, top, width and height in whole pixels within the bounds.
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
            center: FramePoint(
                x: (reported.left + reported.width / 2 - whole.left) / whole.width,
                y: (reported.top + reported.height / 2 - whole.top) / whole.height))
    }
}
