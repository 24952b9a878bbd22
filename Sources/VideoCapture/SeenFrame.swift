import Controls
import Media
import SoftwareEncoding

/// Maps points in the stream's frame to the source's frame.
struct SeenFrame {
    /// Black bars in the stream's frame do not belong to the source's frame.
    private let fit: Letterbox
    private let stream: FrameSize

    init(of source: FrameSize, within stream: FrameSize) {
        fit = Letterbox(source, into: stream)
        self.stream = stream
    }

    /// - Parameter turn: applied to the source's frames.
    /// - Returns: the nearest point of the frame.
    func point(_ point: FramePoint, turned turn: FrameTurn) -> FramePoint {
        let seen = turn.applied(to: withoutBars(FrameArea(at: point))).center
        return FramePoint(x: min(max(0, seen.x), 1), y: min(max(0, seen.y), 1))
    }

    /// Like `point`, for an area.
    /// - Parameter name: name of the control that receives the area.
    /// - Throws: if the area lies in a bar.
    func area(
        _ area: FrameArea, of name: ControlName, turned turn: FrameTurn
    ) throws(ControlError) -> FrameArea {
        guard let inFrame = withoutBars(area).clipped else {
            throw .unusableValue(
                name, value: "\(ControlValue.area(area))", rule: "within the camera's image, not in the black bars")
        }
        return turn.applied(to: inFrame)
    }

    private func withoutBars(_ area: FrameArea) -> FrameArea {
        let (width, height) = (Double(stream.width), Double(stream.height))
        return FrameArea(
            left: (area.left * width - Double(fit.left)) / Double(fit.size.width),
            top: (area.top * height - Double(fit.top)) / Double(fit.size.height),
            width: area.width * width / Double(fit.size.width), height: area.height * height / Double(fit.size.height))
    }
}
