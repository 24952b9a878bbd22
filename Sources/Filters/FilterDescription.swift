/// A row of the table of filters. A test compares docs/filters.md with it.
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

    public static let all = [image, text, lut, smooth, whiten, redden, crop, grey, mirror]

    public static func of(_ name: FilterName) -> FilterDescription {
        // A test checks that each name has a row.
        all.first { $0.name == name } ?? all[0]
    }

    private static let image = FilterDescription(
        .image,
        [
            FilterParameter(.file, .file, "PNG or JPEG, of 8 MB, 4 million pixels and 8192 on a side at the most"),
            FilterParameter(.position, .position, standard: .position(.topRight), "where it is"),
            margin,
            FilterParameter(
                .width, .number(0.01...1), absence: "as many pixels as the file has, if they fit",
                "of the frame's; its shape stays"),
            FilterParameter(.opacity, .number(0...1), standard: .number(1), "0 cannot be seen"),
        ], "a watermark with alpha")

    private static let text = FilterDescription(
        .text,
        [
            FilterParameter(.text, .text, "what is written"),
            FilterParameter(.position, .position, standard: .position(.bottomLeft), "where it is"),
            margin,
            FilterParameter(.size, .number(0.01...0.5), standard: .number(0.05), "a line's height, of the frame's"),
            FilterParameter(.color, .color, standard: .color(.white), "of the letters"),
            FilterParameter(.opacity, .number(0...1), standard: .number(1), "of all of it"),
            FilterParameter(
                .outline, .number(0...0.2), standard: .number(0.06), "around the letters, of a line's height"),
            FilterParameter(.outlineColor, .color, standard: .color(.black), "of the outline"),
            FilterParameter(.background, .color, standard: .color(.none), "of a box behind the lines"),
            FilterParameter(
                .font, .file, absence: "the built-in one: Latin, Greek, Cyrillic",
                "TrueType or OpenType, of 32 MB at the most"),
        ], "lines of text with fields, such as a clock")

    private static let margin = FilterParameter(
        .margin, .number(0...0.25), standard: .number(0.03),
        "from the frame's edges, of its height, where the position is a word")

    private static let lut = FilterDescription(
        .lut,
        [
            FilterParameter(
                .file, .file,
                "a .cube file with LUT_3D_SIZE from \(ColorCube.pointCounts.lowerBound) to "
                    + "\(ColorCube.pointCounts.upperBound), of \(ColorCube.largestFile >> 20) MB at the most"),
            FilterParameter(.strength, .number(0...1), standard: .number(1), "0 does nothing"),
        ], "a look: a table that says what each colour becomes")

    private static let smooth = FilterDescription(
        .smooth, [strength], "takes texture out of skin; edges, and what has no skin's colour, stay")

    private static let whiten = FilterDescription(
        .whiten, [strength], "lifts the middle of the lightness; black and white stay")

    private static let redden = FilterDescription(
        .redden, [strength], "warmer light: more red, less blue; black stays")

    private static let strength = FilterParameter(
        .strength, .number(0...1), standard: .number(0.5), "0 does nothing")

    private static let crop = FilterDescription(
        .crop,
        [
            FilterParameter(.left, part, standard: .number(0), "of the frame's width, to the part's edge"),
            FilterParameter(.top, part, standard: .number(0), "of the frame's height, to the part's edge"),
            FilterParameter(.width, part, standard: .number(1), "of the part, of the frame's"),
            FilterParameter(.height, part, standard: .number(1), "of the part, of the frame's"),
        ], "black around a part of the frame, which stays where it is")

    private static let part = FilterParameter.Kind.number(0...1)

    private static let grey = FilterDescription(.grey, [], "no colours")

    private static let mirror = FilterDescription(
        .mirror, [], "left becomes right, for what comes before it in the chain")
}
