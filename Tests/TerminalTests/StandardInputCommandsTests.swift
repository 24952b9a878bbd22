import Glibc
import LinuxIO
import Testing

@testable import Terminal

@Suite("Command input")
struct StandardInputCommandsTests {
    private let pipe: Pipe

    init() throws { pipe = try Pipe() }

    private func input() throws -> StandardInputCommands {
        try #require(StandardInputCommands(isAskedFor: true, editsLines: true, from: pipe.descriptor))
    }

    @Test func commandsAreReadFromAPipeOnlyOnRequest() throws {
        #expect(StandardInputCommands(isAskedFor: false, editsLines: false, from: pipe.descriptor) == nil)
        let input = try input()
        #expect(input.fileDescriptor >= 0)
        #expect(!input.isInBackground)
        #expect(input.prompt == nil, "nothing is drawn where nobody types")
    }

    @Test func linesArriveWhenComplete() throws {
        let input = try input()
        pipe.write("quality Low1\nmu")
        #expect(input.takeLines() == ["quality Low1"])
        pipe.write("te on\n\nstop\n")
        #expect(input.takeLines() == ["mute on", "", "stop"])
    }

    @Test func lastLineNeedsNoLineEnd() throws {
        let input = try #require(try openAndClose("stop"))
        #expect(input.takeLines() == [], "it may go on")
        #expect(input.takeLines() == ["stop"])
        #expect(input.fileDescriptor == -1, "nothing comes any more")
        #expect(!input.isInBackground)
    }

    /// A pipe's input whose other end is closed after this text.
    private func openAndClose(_ text: String) throws -> StandardInputCommands? {
        let pipe = try Pipe()
        pipe.write(text)
        return StandardInputCommands(isAskedFor: true, editsLines: false, from: pipe.descriptor)
    }

    @Test func lineThatIsTooLongIsNotACommand() throws {
        let input = try input()
        pipe.write(String(repeating: "x", count: 4097))
        for _ in 0..<9 { #expect(input.takeLines() == []) }
        pipe.write(" mute on\nstop\n")
        #expect(input.takeLines() == ["a-line-of-more-than-4096-bytes", "stop"])
        pipe.write("set brightness 0.1\n")
        #expect(input.takeLines() == ["set brightness 0.1"])
    }

    @Test func invalidUTF8IsNotACommand() throws {
        let input = try input()
        pipe.write([UInt8]("filter text text=a".utf8) + [0xFF, 0x0A])
        pipe.write([UInt8]("filter text text=".utf8) + [0xC3, 0x0A, 0xA4, 0x0A])
        pipe.write("filter text text=\u{E4}\n")
        let refused = "a-line-that-is-not-UTF-8"
        #expect(input.takeLines() == [refused, refused, refused, "filter text text=\u{E4}"])
    }

    @Test func terminalOfAnotherProgramIsLeftAlone() throws {
        let terminal = try PseudoTerminal()
        let input = try #require(StandardInputCommands(isAskedFor: false, editsLines: true, from: terminal.terminal))
        #expect(input.isInBackground)
        #expect(input.fileDescriptor == -1)
        #expect(input.takeLines() == [])
        #expect(input.prompt == nil)
        var mode = termios()
        #expect(tcgetattr(terminal.terminal, &mode) == 0)
        #expect(mode.c_lflag & tcflag_t(ECHO) != 0, "its echo stays")
    }
}
