/// A rectangle in a frame, in fractions of its width and height: 0,0 is the upper left corner, 1,1 the lower right one.
public struct FrameArea: Hashable, Sendable {
    public var left: Double
    public var top: Double
    public var width: Double
    public var height: Double

    public init(left: Double, top: Double, width: Double, height: Double) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    public static let whole = FrameArea(left: 0, top: 0, width: 1, height: 1)

    /// The area for a point: a tenth of each side in each direction, clipped to the frame.
    public init(around point: FramePoint) {
        let (left, right) = (max(0, point.x - 0.1), min(1, point.x + 0.1))
        let (top, bottom) = (max(0, point.y - 0.1), min(1, point.y + 0.1))
        self.init(left: left, top: top, width: right - left, height: bottom - top)
    }

    /// An empty area at a point.
    public init(at point: FramePoint) { self.init(left: point.x, top: point.y, width: 0, height: 0) }

    public var center: FramePoint { FramePoint(x: left + width / 2, y: top + height / 2) }
    public var right: Double { left + width }
    public var bottom: Double { top + height }

    /// The part of the frame that corresponds to the part `inner` of this area.
    public func part(_ inner: FrameArea) -> FrameArea {
        FrameArea(
            left: left + inner.left * width, top: top + inner.top * height, width: inner.width * width,
            height: inner.height * height)
    }

    /// The part of it within the frame; `nil` if it is empty.
    public var clipped: FrameArea? {
        let (left, right) = (max(0, left), min(1, right))
        let (top, bottom) = (max(0, top), min(1, bottom))
        guard right > left, bottom > top else { return nil }
        return FrameArea(left: left, top: top, width: right - left, height: bottom - top)
    }

    public func mirrored(_ isMirrored: Bool = true) -> FrameArea {
        isMirrored ? FrameArea(left: 1 - right, top: top, width: width, height: height) : self
    }

    public func flipped(_ isFlipped: Bool = true) -> FrameArea {
        isFlipped ? FrameArea(left: left, top: 1 - bottom, width: width, height: height) : self
    }

    /// The same part of the frame after turning it clockwise by a quarter.
    public var turnedClockwise: FrameArea {
        FrameArea(left: 1 - bottom, top: left, width: height, height: width)
    }
}

/// A point of a frame, as in `FrameArea`.
public struct FramePoint: Hashable, Sendable {
    public var x: Double
    public var y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    public static let center = FramePoint(x: 0.5, y: 0.5)
}
