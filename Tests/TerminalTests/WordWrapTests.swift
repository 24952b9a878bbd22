import Testing

@testable import Terminal

@Suite("Lines of a narrow terminal")
struct WordWrapTests {
    @Test func longLineIsWrappedAtWords() {
        let text = "one two three four five"
        #expect(WordWrap.wrapped(text, columns: 11) == "one two\nthree four\nfive")
        #expect(WordWrap.wrapped(text, columns: 10, indent: 2) == "one two\n  three\n  four\n  five")
        #expect(WordWrap.wrapped(text, columns: 23) == text)
        #expect(WordWrap.wrapped("", columns: 5) == "")
    }

    @Test func tableKeepsItsColumns() {
        let row = "      --url URL    where to publish"
        #expect(WordWrap.wrapped(row, columns: 60) == row)
        #expect(
            WordWrap.wrapped(row, columns: 38) == row,
            "it fits")
        let narrow = WordWrap.wrapped("  --url    where to publish", columns: 22)
        #expect(narrow == "  --url    where to\n           publish")
        #expect(WordWrap.wrapped("      continued text here", columns: 20) == "      continued text\n      here")
    }

    @Test func reportContinuesBelowItsLabelOrTime() {
        let report = WordWrap.report(
            "state:    live\ndetail:   one two three four\n2026-11-25T09:00:00Z live at last\n+3.1s live at last\n"
                + "stream.json:1:2: url: must be  another\n", columns: 24)
        #expect(
            report == "state:    live\ndetail:   one two three\n          four\n2026-11-25T09:00:00Z\n"
                + "            live at last\n+3.1s live at last\nstream.json:1:2: url:\n  must be  another\n")
    }

    @Test func longWordStaysWhole() {
        #expect(
            WordWrap.wrapped("see rtmp://a.example/very/long now", columns: 10)
                == "see\nrtmp://a.example/very/long\nnow")
        #expect(WordWrap.wrapped("rtmp://a.example/very/long", columns: 10) == "rtmp://a.example/very/long")
    }

    @Test(arguments: 1...100) func noWordIsLostOnAnyTerminal(columns: Int) {
        let text = "      --dimension WxH|NAME  frame size (default 640x480) or a name such as 720p\n\n  a second line"
        let wrapped = WordWrap.wrapped(text, columns: columns)
        #expect(wrapped.split { $0 == " " || $0 == "\n" } == text.split { $0 == " " || $0 == "\n" })
        if columns >= 60 {
            #expect(wrapped.split(separator: "\n").allSatisfy { $0.count <= columns })
        }
    }

    @Test func nothingIsWrappedWithoutATerminal() throws {
        let text = String(repeating: "word ", count: 100)
        #expect(WordWrap.fitted(text, to: try Pipe().input) == text)
        let terminal = try PseudoTerminal(columns: 40)
        #expect(WordWrap.fitted(text, to: terminal.terminal).split(separator: "\n").allSatisfy { $0.count <= 40 })
    }
}
