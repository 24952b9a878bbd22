import Media

/// A mode that a display offers.
struct DisplayMode: Hashable, Sendable {
    /// Position in the driver's list.
    let index: Int
    let size: FrameSize
    /// Whole frames per second.
    let refreshRate: Int
    let isPreferred: Bool
    let isInterlaced: Bool

    /// More would not improve a preview, and each pixel costs memory bandwidth sixty times per second.
    static let largest = FrameSize(width: 1920, height: 1080)
    /// How many modes to try before the display counts as unusable.
    private static let mostAttempts = 4

    /// The modes in the order to try them. First the display's preferred mode or, if that is larger than a preview needs, the
    /// largest sufficient one of the same shape. Then smaller modes, which more cables and chips support.
    static func inOrderOfTrial(_ modes: [DisplayMode]) -> [DisplayMode] {
        let usable = modes.filter { !$0.isInterlaced && $0.size.width > 0 && $0.size.height > 0 }
        guard let own = usable.first(where: \.isPreferred) ?? usable.first else { return [] }
        let moderate = usable.filter(\.isModerate).sorted(by: isBetter)
        let first = own.isModerate ? own : moderate.first { $0.hasShape(of: own) } ?? moderate.first ?? own
        let smaller = moderate.filter { $0 != first && $0.size.pixelCount <= first.size.pixelCount }
        return Array(([first] + smaller + [own].filter { $0 != first }).prefix(mostAttempts))
    }

    private var isModerate: Bool {
        size.width <= Self.largest.width && size.height <= Self.largest.height && refreshRate <= 60
    }

    private func hasShape(of other: DisplayMode) -> Bool {
        size.width * other.size.height == size.height * other.size.width
    }

    private static func isBetter(_ one: DisplayMode, _ other: DisplayMode) -> Bool {
        (one.size.pixelCount, one.refreshRate, -one.index) > (other.size.pixelCount, other.refreshRate, -other.index)
    }
}

/// A rectangle on a screen or buffer, in pixels.
struct Area: Hashable, Sendable {
    var left = 0
    var top = 0
    var size: FrameSize

    /// Centered on a screen, as large as possible without distortion.
    /// - Returns: `nil` if either has no pixels.
    init?(fitting source: FrameSize, into screen: FrameSize) {
        guard source.width > 0, source.height > 0, screen.width > 0, screen.height > 0 else { return nil }
        let isWide = source.width * screen.height > source.height * screen.width
        size =
            isWide
            ? FrameSize(width: screen.width, height: max(1, source.height * screen.width / source.width))
            : FrameSize(width: max(1, source.width * screen.height / source.height), height: screen.height)
        left = (screen.width - size.width) / 2
        top = (screen.height - size.height) / 2
    }

    init(left: Int = 0, top: Int = 0, _ size: FrameSize) {
        self.left = left
        self.top = top
        self.size = size
    }

    /// Which part of a source to show where, on a screen whose planes cannot scale: its center in the screen's center.
    static func unscaled(_ source: FrameSize, on screen: FrameSize) -> (source: Area, screen: Area) {
        // Even, because chroma has one sample per pair of pixels.
        let width = min(source.width, screen.width) & ~1
        let height = min(source.height, screen.height) & ~1
        let size = FrameSize(width: width, height: height)
        let seen = Area(left: (source.width - width) / 2 & ~1, top: (source.height - height) / 2 & ~1, size)
        return (seen, Area(left: (screen.width - width) / 2, top: (screen.height - height) / 2, size))
    }
}
