import Glibc
import LinuxIO
import Testing

@testable import ApplianceRuntime
@testable import CommandChannels

/// The console on a pseudo-terminal whose other end belongs to the test.
@Suite final class SerialConsoleTests {
    private let line: OwnedFileDescriptor
    private let path: String

    init() throws {
        // What posix_openpt, unlockpt and ptsname do (ioctl_tty(2)).
        line = try OwnedFileDescriptor(opening: "/dev/ptmx", flags: O_RDWR | O_NOCTTY)
        var lock: Int32 = 0
        var number: UInt32 = 0
        try #require(ioctl(line.rawValue, 0x4004_5431, &lock) == 0 && ioctl(line.rawValue, 0x8004_5430, &number) == 0)
        path = "/dev/pts/\(number)"
    }

    @Test func endlessSenderDoesNotBlockTheMainThread() throws {
        let console = try SerialConsole(path: path)
        var answers = 0
        // Each answer triggers the next command, up to a number that no turn reaches.
        func typeNext() {
            guard answers < 1000, (try? line.writeAll(Array("status\r".utf8))) != nil else { return }
            var entries = [PollEntry(console.pollEntry.fileDescriptor)]
            _ = try? poll(&entries, until: nil)
        }
        func serve() throws {
            try console.serve { _, asker in
                answers += 1
                typeNext()
                asker.answer(.done(["ready"]))
            }
        }
        typeNext()
        try serve()
        let first = answers
        #expect(first > 0 && first < 1000)
        try serve()
        #expect(answers > first, "the rest is still there")
    }
}
