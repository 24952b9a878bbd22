import Media

/// The layout of a page's text for a canvas of some width.
struct PageLayout: Hashable {
    struct Line: Hashable {
        let text: String
        let left: Int
        let top: Int
        /// In pixels, including the gap below.
        let height: Int
        let color: UInt32
    }

    let lines: [Line]
    /// Down to the bottom of the last line.
    let height: Int

    /// On a canvas this wide, letters have two pixels per dot; on wider ones they are larger.
    static let usualWidth = 640
    private static let white: UInt32 = 0xFFFF_FFFF
    /// The background of text over video: three quarters black, so that the video remains visible.
    static let shade: UInt32 = 0xC000_0000
    static let black: UInt32 = 0xFF00_0000

    init(_ page: ScreenPage, width: Int, _ font: some TextRenderer) {
        let unit = max(1, width / Self.usualWidth)
        let margin = 8 * unit
        var lines: [Line] = []
        var top = margin
        func add(_ text: String, height: Int, _ color: UInt32) {
            for part in Self.wrapped(text, to: width - 2 * margin, { font.width(of: $0, height: height) }) {
                lines.append(Line(text: part, left: margin, top: top, height: height, color: color))
                top += height
            }
        }
        add(page.headline, height: 27 * unit, page.tone.color)
        for line in page.lines { add(line, height: 18 * unit, Self.white) }
        self.lines = lines
        height = lines.isEmpty ? 0 : top + margin / 2
    }

    func draw(on canvas: Canvas, below offset: Int = 0, _ font: some TextRenderer) {
        for line in lines {
            font.draw(
                line.text, left: line.left, top: line.top + offset, height: line.height, color: line.color, on: canvas)
        }
    }

    /// Splits text into parts that fit, between words if possible.
    static func wrapped(_ text: String, to width: Int, _ measure: (String) -> Int) -> [String] {
        var (parts, part) = ([String](), "")
        // Preserve multiple spaces between words.
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let longer = part.isEmpty ? String(word) : "\(part) \(word)"
            if measure(longer) <= width {
                part = longer
                continue
            }
            if !part.isEmpty { parts.append(part) }
            part = String(word)
            while measure(part) > width, part.count > 1 {
                var head = part
                while head.count > 1, measure(head) > width { head.removeLast() }
                parts.append(head)
                part = String(part.dropFirst(head.count))
            }
        }
        return part.isEmpty ? parts : parts + [part]
    }
}

extension ScreenPage.Tone {
    /// Like a tally light: red means live.
    fileprivate var color: UInt32 {
        switch self {
        case .idle: 0xFFFF_FFFF
        case .live: 0xFFFF_5050
        case .waiting: 0xFFFF_D040
        case .fault: 0xFFFF_A040
        }
    }
}
