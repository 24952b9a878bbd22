import Media

/// A position in a frame of any size: at an edge, in a corner, or at X,Y in fractions of the frame. As in CSS, that
/// fraction of the object is placed at that fraction of the frame, so that the object is fully visible: 0,0 is the
/// upper left corner, 1,1 the lower right one, 0.5,0.5 the center.
public struct FilterPosition: Hashable, Sendable {
    public let x: Double
    public let y: Double
    /// Whether it was given as a word; only then does the margin apply.
    public let isWord: Bool

    /// - Parameters:
    ///   - x: from 0 to 1.
    ///   - y: from 0 to 1.
    public init(x: Double, y: Double) { self.init(x, y, isWord: false) }

    private init(_ x: Double, _ y: Double, isWord: Bool = true) {
        self.x = x
        self.y = y
        self.isWord = isWord
    }

    public static let topRight = FilterPosition(1, 0)
    public static let bottomLeft = FilterPosition(0, 1)

    private static let words: [(word: String, position: FilterPosition)] = [
        ("top-left", FilterPosition(0, 0)), ("top", FilterPosition(0.5, 0)), ("top-right", topRight),
        ("left", FilterPosition(0, 0.5)), ("center", FilterPosition(0.5, 0.5)), ("right", FilterPosition(1, 0.5)),
        ("bottom-left", bottomLeft), ("bottom", FilterPosition(0.5, 1)), ("bottom-right", FilterPosition(1, 1)),
    ]

    /// For people.
    static let form = words.map(\.word).joined(separator: ", ") + ", or X,Y within 0 to 1"

    /// - Parameter text: a word or `X,Y`.
    public init?(parsing text: String) {
        if let known = Self.words.first(where: { $0.word == text.lowercased() }) {
            self = known.position
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { decimal($0) ?? .nan }
        guard numbers.count == 2, numbers.allSatisfy((0...1).contains) else { return nil }
        self.init(x: numbers[0], y: numbers[1])
    }

    /// The upper left corner of an object of this size, in pixels. The values are even, as required for chroma at half
    /// the size, and not negative.
    /// - Parameter margin: as a fraction of the frame's height.
    public func corner(of size: FrameSize, in frame: FrameSize, margin: Double) -> (x: Int, y: Int) {
        let margin = isWord ? margin * Double(frame.height) : 0
        func place(_ part: Double, _ length: Int, _ whole: Int) -> Int {
            let room = Double(max(0, whole - length))
            let border = min(margin, room / 2)
            return Int(border + part * (room - 2 * border)) & ~1
        }
        return (place(x, size.width, frame.width), place(y, size.height, frame.height))
    }
}

extension FilterPosition: CustomStringConvertible {
    public var description: String {
        let word = isWord ? Self.words.first { $0.position == self }?.word : nil
        return word ?? "\(FilterValue.text(x)),\(FilterValue.text(y))"
    }
}
