import Media
import Testing

@testable import DisplayOutput

/// Text is drawn in its place and nowhere else.
@Suite struct PageLayoutTests {
    private let font = BitmapFont()

    @Test func linesBreakBetweenWords() {
        let parts = PageLayout.wrapped("put the server's URL into stream.json", to: 12) { $0.count }
        #expect(parts == ["put the", "server's URL", "into", "stream.json"])
        #expect(PageLayout.wrapped("", to: 12) { $0.count } == [])
    }

    @Test func overlongWordIsSplit() {
        #expect(PageLayout.wrapped("a abcdefghijkl b", to: 5) { $0.count } == ["a", "abcde", "fghij", "kl b"])
        // It terminates even on the narrowest canvas.
        #expect(PageLayout.wrapped("abc", to: 0) { $0.count } == ["a", "b", "c"])
    }

    @Test(arguments: [320, 640, 1024, 1920, 3840])
    func linesStayOnTheCanvas(width: Int) {
        let page = ScreenPage(
            .live, "live 00:12:34",
            ["Medium1 640x480  1012 of 1100 kbit/s  30 fps", String(repeating: "word ", count: 40)])
        let layout = PageLayout(page, width: width, font)
        #expect(layout.lines.count > 3)
        for line in layout.lines {
            #expect(line.left + font.width(of: line.text, height: line.height) <= width)
            #expect(line.top + line.height <= layout.height)
        }
        for (line, next) in zip(layout.lines, layout.lines.dropFirst()) { #expect(line.top + line.height <= next.top) }
    }

    @Test func emptyPageTakesNoSpace() { #expect(PageLayout(ScreenPage(.idle, ""), width: 640, font).height == 0) }

    /// A canvas in memory, with a guard row before and after it.
    private func drawn(_ width: Int, _ height: Int, _ body: (Canvas) -> Void) -> (pixels: [UInt32], isIntact: Bool) {
        let guardian: UInt32 = 0x1122_3344
        var memory = [UInt32](repeating: guardian, count: width * (height + 2))
        memory.withUnsafeMutableBytes { bytes in
            let pixels = UnsafeMutableRawBufferPointer(rebasing: bytes[4 * width..<4 * width * (height + 1)])
            pixels.initializeMemory(as: UInt8.self, repeating: 0)
            body(Canvas(pixels: pixels, size: FrameSize(width: width, height: height), stride: 4 * width))
        }
        let isIntact = (memory.prefix(width) + memory.suffix(width)).allSatisfy { $0 == guardian }
        return (Array(memory[width..<width * (height + 1)]), isIntact)
    }

    @Test func letterHasItsShape() {
        let canvas = drawn(5, 7) { font.draw("T", left: 0, top: 0, height: 9, color: 1, on: $0) }
        let rows = (0..<7).map { row in canvas.pixels[row * 5..<row * 5 + 5].map { $0 == 1 ? "#" : "." }.joined() }
        #expect(rows == ["#####", "..#..", "..#..", "..#..", "..#..", "..#..", "..#.."])
    }

    @Test func lettersGrowWithTheLineHeight() {
        let small = drawn(5, 7) { font.draw("R", left: 0, top: 0, height: 9, color: 1, on: $0) }.pixels
        let large = drawn(15, 21) { font.draw("R", left: 0, top: 0, height: 27, color: 1, on: $0) }.pixels
        for row in 0..<21 {
            for column in 0..<15 { #expect(large[row * 15 + column] == small[row / 3 * 5 + column / 3]) }
        }
    }

    @Test func missingCharacterBecomesAQuestionMark() {
        let mark = drawn(6, 7) { font.draw("?", left: 0, top: 0, height: 9, color: 1, on: $0) }.pixels
        for text in ["ä", "漢", "\u{7}", "\u{7F}"] {
            #expect(drawn(6, 7) { font.draw(text, left: 0, top: 0, height: 9, color: 1, on: $0) }.pixels == mark)
        }
    }

    @Test func drawingIsClippedToTheCanvas() {
        let canvas = drawn(16, 8) { canvas in
            font.draw("outside of it all", left: -7, top: -3, height: 18, color: 1, on: canvas)
            canvas.fill(Area(left: 10, top: 5, FrameSize(width: 100, height: 100)), 2)
            canvas.fill(Area(left: -50, top: -50, FrameSize(width: 10, height: 10)), 3)
            canvas.fill(Area(left: 50, top: 50, FrameSize(width: 10, height: 10)), 3)
        }
        #expect(canvas.isIntact)
        #expect(canvas.pixels.contains(1) && canvas.pixels.contains(2) && !canvas.pixels.contains(3))
    }

    @Test func tooSmallCanvasIsLeftAlone() {
        var memory = [UInt8](repeating: 7, count: 64)
        memory.withUnsafeMutableBytes { bytes in
            let canvas = Canvas(pixels: bytes, size: FrameSize(width: 100, height: 100), stride: 400)
            canvas.fill(Area(FrameSize(width: 100, height: 100)), 1)
        }
        #expect(memory.allSatisfy { $0 == 7 })
    }
}
