import Media

/// A stream's frame size: a preset, or a custom size rounded to whole macroblocks.
public struct VideoDimension: Hashable, Sendable {
    /// The encoded size. Presets are exact: H.264 cropping covers sizes that are not multiples of 16.
    public let size: FrameSize
    /// The requested size.
    public let requestedSize: FrameSize

    /// Whether the size was rounded, which must be reported.
    public var isRounded: Bool { size != requestedSize }

    private init(preset width: Int, _ height: Int) {
        size = FrameSize(width: width, height: height)
        requestedSize = size
    }

    /// 16:9, smallest first.
    public static let widePresets = [
        VideoDimension(preset: 416, 234), VideoDimension(preset: 480, 270), VideoDimension(preset: 640, 360),
        VideoDimension(preset: 960, 540), VideoDimension(preset: 1280, 720), VideoDimension(preset: 1920, 1080),
    ]
    /// 4:3, smallest first. 1920x1140 is taken literally from the limits that Pili's SDK documents; 1920x1440, which
    /// they surely meant, is added.
    public static let narrowPresets = [
        VideoDimension(preset: 400, 300), VideoDimension(preset: 480, 360), standard,
        VideoDimension(preset: 960, 720), VideoDimension(preset: 1280, 960), VideoDimension(preset: 1920, 1140),
        VideoDimension(preset: 1920, 1440),
    ]
    public static let presets = widePresets + narrowPresets
    /// The default: 640x480.
    public static let standard = VideoDimension(preset: 640, 480)

    /// Keeps a preset's size; any other is rounded to the nearest multiple of 16 on each side, halves up.
    /// - Throws: `impossibleSize` below 16 pixels on a side, or if H.264 level 5.1 does not allow a frame of this size.
    public init(_ requested: FrameSize) throws(QualityError) {
        if let preset = Self.presets.first(where: { $0.size == requested }) {
            self = preset
            return
        }
        let longestSide = 8_688
        guard (16...longestSide).contains(requested.width), (16...longestSide).contains(requested.height) else {
            throw .impossibleSize(requested)
        }
        let rounded = FrameSize(width: (requested.width + 8) / 16 * 16, height: (requested.height + 8) / 16 * 16)
        let slowest = FrameRate(framesPerSecond: 1)
        guard H264Level.level5_1.carries(rounded, at: slowest, bitrate: Bitrate(bitsPerSecond: 0)) else {
            throw .impossibleSize(requested)
        }
        size = rounded
        requestedSize = requested
    }

    /// The next smaller preset of the nearest aspect ratio; `nil` below the smallest.
    public var smaller: VideoDimension? {
        let isWide = size.width * 2 > size.height * 3
        let presets = isWide ? Self.widePresets : Self.narrowPresets
        return presets.last { $0.size.width < size.width && $0.size.height < size.height }
    }

    /// - Parameter text: "640x480", or a preset by its height: "720p" (16:9 if both ratios have it), "16:9-720p",
    ///   "4:3-720p".
    /// - Throws: `unknownDimension`, `impossibleSize`.
    public init(parsing text: String) throws(QualityError) {
        let lowercased = text.lowercased()
        if let preset = Self.preset(named: lowercased) {
            self = preset
            return
        }
        let sides = lowercased.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.number(sides[0]), let height = Self.number(sides[1]) else {
            throw .unknownDimension(text)
        }
        try self.init(FrameSize(width: width, height: height))
    }

    private static func preset(named name: String) -> VideoDimension? {
        let candidates: [(prefix: String, presets: [VideoDimension])] = [
            ("16:9-", widePresets), ("4:3-", narrowPresets), ("", presets),
        ]
        for (prefix, presets) in candidates {
            if let preset = presets.first(where: { "\(prefix)\($0.size.height)p" == name }) { return preset }
        }
        return nil
    }

    private static func number(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        // A number that overflows Int is still a size, though an impossible one.
        return Int(digits) ?? .max
    }
}
