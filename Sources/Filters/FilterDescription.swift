/// A row of the table of filters. A test compares docs/reference/filters.md with it.
public struct FilterDescription: Hashable, Sendable {
    public let name: FilterName
    public let parameters: [FilterParameter]
    public let summary: String

    private init(_ name: FilterName, _ parameters: [FilterParameter], _ summary: String) {
        self.name = name
        self.parameters = parameters
        self.summary = summary
    }

    public func parameter(_ name: FilterParameterName) -> FilterParameter? { parameters.first { $0.name == name } }

    public static let all = [image, text, lut, smooth, whiten, redden, crop, gray, mirror]

    public static func of(_ name: FilterName) -> FilterDescription {
        // A test checks that each name has a row.
        all.first { $0.name == name } ?? all[0]
    }

    private static let image = FilterDescription(
        .image,
        [
            FilterParameter(.file, .file, "PNG or JPEG; at most 8 MB, 4 million pixels and 8192 pixels per side"),
            FilterParameter(.position, .position, standard: .position(.topRight), "where to draw it"),
            margin,
            FilterParameter(
                .width, .number(0.01...1), absence: "the file's own size, if it fits",
                "as a fraction of the frame's width; the aspect ratio stays"),
            FilterParameter(.opacity, .number(0...1), standard: .number(1), "0 is invisible"),
        ], "a watermark with alpha")

    private static let text = FilterDescription(
        .text,
        [
            FilterParameter(.text, .text, "the text to draw"),
            FilterParameter(.position, .position, standard: .position(.bottomLeft), "where to draw it"),
            margin,
            FilterParameter(
                .size, .number(0.01...0.5), standard: .number(0.05), "line height as a fraction of the frame's height"),
            FilterParameter(.color, .color, standard: .color(.white), "color of the letters"),
            FilterParameter(.opacity, .number(0...1), standard: .number(1), "of letters, outline and box"),
            FilterParameter(
                .outline, .number(0...0.2), standard: .number(0.06), "outline width as a fraction of the line height"),
            FilterParameter(.outlineColor, .color, standard: .color(.black), "color of the outline"),
            FilterParameter(.background, .color, standard: .color(.none), "color of a box behind the text"),
            FilterParameter(
                .font, .file, absence: "built in: Latin, Greek, Cyrillic",
                "TrueType or OpenType, at most 32 MB"),
        ], "lines of text with fields, such as a clock")

    private static let margin = FilterParameter(
        .margin, .number(0...0.25), standard: .number(0.03),
        "distance from the edges as a fraction of the frame's height, if the position is a word")

    private static let lut = FilterDescription(
        .lut,
        [
            FilterParameter(
                .file, .file,
                "a .cube file with LUT_3D_SIZE from \(ColorCube.pointCounts.lowerBound) to "
                    + "\(ColorCube.pointCounts.upperBound), at most \(ColorCube.largestFile >> 20) MB"),
            FilterParameter(.strength, .number(0...1), standard: .number(1), "0 has no effect"),
        ], "a look: a table that maps each color to a new one")

    private static let smooth = FilterDescription(
        .smooth, [strength], "smooths skin; keeps edges and all other colors")

    private static let whiten = FilterDescription(
        .whiten, [strength], "brightens the midtones; keeps black and white")

    private static let redden = FilterDescription(
        .redden, [strength], "warms the light: more red, less blue; keeps black")

    private static let strength = FilterParameter(
        .strength, .number(0...1), standard: .number(0.5), "0 has no effect")

    private static let crop = FilterDescription(
        .crop,
        [
            FilterParameter(
                .left, part, standard: .number(0), "left edge of the area, as a fraction of the frame's width"),
            FilterParameter(
                .top, part, standard: .number(0), "top edge of the area, as a fraction of the frame's height"),
            FilterParameter(.width, part, standard: .number(1), "as a fraction of the frame's width"),
            FilterParameter(.height, part, standard: .number(1), "as a fraction of the frame's height"),
        ], "blackens everything outside an area, which stays in place")

    private static let part = FilterParameter.Kind.number(0...1)

    private static let gray = FilterDescription(.gray, [], "removes all color")

    private static let mirror = FilterDescription(
        .mirror, [], "swaps left and right, including what earlier filters drew")
}
