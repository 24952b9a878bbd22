import Glibc
import LinuxIO
import Testing

/// A pipe that keeps its packets apart stands in for /dev/kmsg, which returns one message for each read.
@Suite("The kernel's log")
struct KernelLogTests {
    private let path: String
    private let writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        // O_DIRECT, which keeps packets apart.
        try #require(fcntl(ends[1], F_SETFL, O_NONBLOCK | 0o40000) == 0)
        path = "/proc/self/fd/\(ends[0])"
        writer = ends[1]
    }

    private func write(_ record: String) { LinuxIO.write(Array(record.utf8), to: writer) }

    @Test func readsTheTextsWithoutTheirProperties() throws {
        let log = try KernelLog(path: path)
        #expect(log.takeMessages().isEmpty)
        write("4,339,5140900,-;brcmfmac: a; b\n SUBSYSTEM=sdio\n DEVICE=+sdio:mmc1:0001:1\n")
        write("6,340,5140901,c;\n")
        write("without a prefix\n")
        #expect(log.takeMessages() == ["brcmfmac: a; b", "", ""])
        #expect(log.takeMessages().isEmpty)
    }

    @Test func continuesWithTheNextOnesAfterVeryMany() throws {
        let log = try KernelLog(path: path)
        // F_SETPIPE_SZ: one page for each packet.
        try #require(fcntl(writer, 1031, 1 << 20) == 1 << 20)
        for number in 0..<256 { write("6,\(number),1,-;\(number)\n") }
        let first = log.takeMessages()
        #expect(first.count == 256 && first.last == "255")
        write("6,256,1,-;256\n")
        #expect(log.takeMessages() == ["256"])
    }

    @Test func saysWhichFileItCannotOpen() {
        #expect(throws: SystemCallError("open", number: ENOENT, subject: "/nowhere")) {
            try KernelLog(path: "/nowhere")
        }
    }
}
