import Glibc
import MediaTestSupport
import Testing

@testable import LibcameraCapture

/// Explains a missing camera, with the test's own /dev and /sys.
@Suite struct CameraAbsenceTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var reason: String { CameraAbsence(root: folder.path).reason }

    private func make(_ path: String, _ text: String = "") throws {
        var parent = folder.path
        for part in path.split(separator: "/").dropLast() {
            parent += "/\(part)"
            mkdir(parent, 0o755)
        }
        let file = try #require(fopen("\(folder.path)/\(path)", "w"))
        fputs(text, file)
        fclose(file)
    }

    @Test func emptySystemPointsToTheCable() {
        #expect(reason.hasPrefix("the kernel shows none (no /dev/media* and no /dev/video*)"))
    }

    @Test func sensorWithoutADriverIsNamed() throws {
        try make("sys/bus/i2c/devices/10-0050/of_node/reg")
        try make("sys/bus/i2c/devices/10-001a/of_node/port/endpoint")
        try make("sys/bus/i2c/devices/10-001a/name", "imx708\n")
        #expect(reason.hasPrefix("there is a sensor at 10-001a (imx708), but it has no driver"))
        // Even without a sensor, a Raspberry Pi has nodes of its codec and image processor.
        try make("dev/media0")
        try make("dev/video11")
        #expect(reason.hasPrefix("there is a sensor at 10-001a (imx708), but it has no driver"))
        try make("sys/bus/i2c/devices/10-001a/driver")
        #expect(reason.hasPrefix("the kernel has /dev/media0, /dev/video11, but none of them is a camera"))
    }

    @Test func missingContiguousMemoryIsReported() throws {
        try make("dev/media0")
        try make("dev/video0")
        try make("sys/class/video4linux/video0/name", "unicam-image\n")
        #expect(reason.contains("no heap of contiguous memory (/dev/dma_heap/linux,cma)"))
        try make("dev/dma_heap/reserved")
        #expect(reason.hasPrefix("the kernel has /dev/media0, /dev/video0, but none of them is a camera"))
    }

    @Test func usbCameraWithoutADriverIsNamed() throws {
        try make("sys/bus/usb/devices/1-1:1.0/bInterfaceClass", "03\n")
        try make("sys/bus/usb/devices/1-2:1.0/bInterfaceClass", "0e\n")
        #expect(reason == "there is a USB camera at 1-2:1.0, but it has no driver; load uvcvideo")
    }

    @Test func missingNodesAreReported() throws {
        try make("sys/bus/media/devices/media0/dev")
        try make("sys/class/video4linux/video0/dev")
        #expect(reason.hasPrefix("the kernel has media0, video0, but /dev has no nodes for them"))
    }

    @Test func lockedNodeIsReportedAsInUse() throws {
        try make("dev/media1")
        try make("dev/media0")
        #expect(CameraAbsence(root: folder.path).note == nil)
        let path = "\(folder.path)/dev/media1"
        // Locks are between processes, so another process must hold it. The program reports the lock, then waits to be killed.
        let program = """
            import fcntl, os, sys, time
            file = open(sys.argv[1], "r+b")
            fcntl.lockf(file, fcntl.LOCK_EX)
            print(os.getpid(), flush=True)
            time.sleep(60)
            """
        let holder = try HoldingProcess("/usr/bin/python3", ["-c", program, path])
        defer { holder.end() }
        #expect(
            CameraAbsence(root: folder.path).reason
                == "/dev/media1 (process \(holder.number)) is in use by another program, and its cameras may be missing"
        )
    }
}

/// A program that prints a line when it is ready.
private struct HoldingProcess {
    let number: pid_t

    init(_ path: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var process: pid_t = 0
        let status = posix_spawn(&process, path, &actions, nil, &words, environ)
        posix_spawn_file_actions_destroy(&actions)
        words.forEach { free($0) }
        close(ends[1])
        defer { close(ends[0]) }
        try #require(status == 0)
        var byte: UInt8 = 0
        try #require(read(ends[0], &byte, 1) == 1)
        number = process
    }

    func end() {
        kill(number, SIGKILL)
        waitpid(number, nil, 0)
    }
}
