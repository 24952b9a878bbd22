import Terminal
import Testing

@Suite("Line editor")
struct LineEditorTests {
    /// The lines submitted by typing.
    private func lines(_ typed: String) -> [String] {
        var editor = LineEditor(prompt: "> ")
        return editor.received(Array(typed.utf8)).compactMap { action in
            if case .submit(let line) = action { line } else { nil }
        }
    }

    @Test(arguments: [
        ("status\r", ["status"]), ("status\n", ["status"]), ("status\r\n", ["status"]), ("a\r\rb\r", ["a", "", "b"]),
        ("statux\u{7F}s\r", ["status"]), ("statux\u{8}s\r", ["status"]), ("\u{7F}\u{7F}x\r", ["x"]),
        ("tatus\u{1}s\r", ["status"]), ("tatus\u{1B}[Hs\u{1B}[Fx\r", ["statusx"]), ("ab\u{1B}[DX\r", ["aXb"]),
        ("ab\u{1B}[D\u{1B}[D\u{1B}[Dx\u{1B}[Cy\r", ["xayb"]), ("ab\u{1}\u{1B}[3~\r", ["b"]), ("ab\u{1}\u{B}c\r", ["c"]),
        ("one two\u{17}three\r", ["one three"]), ("wrong\u{15}right\r", ["right"]), ("wrong\u{3}right\r", ["right"]),
        ("start\r\u{1B}[A\r", ["start", "start"]), ("a\rb\r\u{1B}[A\u{1B}[A\r", ["a", "b", "a"]),
        ("a\rty\u{1B}[A\u{1B}[Bped\r", ["a", "typed"]), ("\u{1B}[A\u{1B}[Bx\r", ["x"]), ("a\u{0}\u{5}b\r", ["ab"]),
        ("a\u{1B}[1;5Db\r", ["ba"]), ("a\u{1B}xb\r", ["ab"]),
    ])
    func submitsTheTypedLines(typed: String, expected: [String]) {
        #expect(lines(typed) == expected)
    }

    @Test func lineIsEchoedAndRedrawn() {
        var editor = LineEditor(prompt: "> ")
        #expect(editor.received([0x61]) == [.write([0x61])])
        #expect(editor.drawing == Array("\r\u{1B}[K> a".utf8))
        _ = editor.received(Array("b\u{1B}[D".utf8))
        #expect(editor.drawing == Array("\r\u{1B}[K> ab\u{1B}[1D".utf8))
    }

    @Test func lineLengthIsLimited() {
        #expect(lines(String(repeating: "x", count: 10_000) + "\r").first?.count == 200)
    }

    @Test func anyPortionsOfInputGiveTheSameLines() {
        var state: UInt64 = 7
        let bytes = (0..<20_000).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        var whole = LineEditor(prompt: "> ")
        var split = LineEditor(prompt: "> ")
        #expect(whole.received(bytes) == bytes.flatMap { split.received([$0]) })
    }
}
