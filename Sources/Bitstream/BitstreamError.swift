/// What is wrong with bytes that should contain one of this module's structures.
public enum BitstreamError: Error, Hashable, Sendable {
    /// The bytes end inside `structure`; at least `needed` more are missing there.
    case truncated(structure: String, needed: Int)
    /// `field` of `structure` has a value that the format forbids.
    case invalid(structure: String, field: String, value: Int)
    /// The bytes are valid, but use a part of the format that is not supported here.
    case unsupported(structure: String, feature: String)
    /// The bytes belong to another kind of file.
    /// - Parameters:
    ///   - actual: name of the kind for people, with an article.
    ///   - isMovie: whether its video can be copied into the structure.
    case otherFile(structure: String, actual: String, isMovie: Bool)
}

extension BitstreamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let structure, let needed):
            "\(structure) is cut off: at least \(needed) more \(needed == 1 ? "byte is" : "bytes are") needed"
        case .invalid(let structure, let field, let value):
            "\(structure) is damaged: \(field) is \(value), which is not allowed"
        case .unsupported(let structure, let feature):
            "\(structure) uses \(feature), which is not supported"
        case .otherFile(let structure, let actual, let isMovie):
            "this is \(actual), not \(structure)"
                + (isMovie ? "; convert it with ffmpeg -i INPUT -c copy OUTPUT.flv" : "")
        }
    }
}
