import Controls
import Media
import SoftwareEncoding

/// Where what people point at in the stream's frame lies in the source's.
struct SeenFrame {
    /// Bars that fill the stream's frame are no part of the source's.
    private let fit: Letterbox
    private let stream: FrameSize

    init(of source: FrameSize, within stream: FrameSize) {
        fit = Letterbox(source, into: stream)
        self.stream = stream
    }

    /// - Parameter turn: what is done to the source's frames.
    /// - Returns: the nearest point of the frame.
    func point(_ point: FramePoint, turned turn: FrameTurn) -> FramePoint {
        let seen = turn.applied(to: withoutBars(FrameArea(at: point))).centre
        return FramePoint(x: min(max(0, seen.x), 1), y: min(max(0, seen.y), 1))
    }

    /// As `point`.
    /// - Parameter name: of the control that takes the area.
    /// - Throws: for an area that lies in a bar.
    func area(
        _ area: FrameArea, of name: ControlName, turned turn: FrameTurn
    ) throws(ControlError) -> FrameArea {
        guard let inFrame = withoutBars(area).clipped else {
            throw .unusableValue(
                name, value: "\(ControlValue.area(area))", rule: "within the frame: the bars beside it show nothing")
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
