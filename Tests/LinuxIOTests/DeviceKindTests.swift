import Glibc
import LinuxIO
import Testing

/// Anything but a terminal or a watchdog is recognized before it is opened.
@Suite("Kinds of devices")
struct DeviceKindTests {
    /// A character device without a driver: opening it fails with its own error.
    private func withoutDriver(_ body: (String) throws -> Void) throws {
        let path = "/dev/shm/tallycam-no-driver-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        // makedev(3) of 4095 and 77.
        guard mknod(path, S_IFCHR | 0o600, 0xFFF << 8 | 77) == 0 else { throw SystemCallError("mknod", subject: path) }
        defer { unlink(path) }
        try body(path)
    }

    @Test func aPseudoTerminalIsATerminal() throws {
        // What posix_openpt, unlockpt and ptsname do (ioctl_tty(2)).
        let main = try OwnedFileDescriptor(opening: "/dev/ptmx", flags: O_RDWR | O_NOCTTY)
        var lock: Int32 = 0
        var number: UInt32 = 0
        try #require(ioctl(main.rawValue, 0x4004_5431, &lock) == 0 && ioctl(main.rawValue, 0x8004_5430, &number) == 0)
        let path = "/dev/pts/\(number)"
        _ = try SerialPort(path)
        _ = try HardwareWatchdog(path, seconds: 15, isSimulated: true)
        #expect(throws: SystemCallError("stat", number: ENODEV, subject: path)) {
            try HardwareWatchdog(path, seconds: 15)
        }
    }

    @Test func otherDevicesAreNotOpened() throws {
        for path in ["/dev/null", "/dev/zero"] {
            #expect(throws: SystemCallError("stat", number: ENOTTY, subject: path)) { try SerialPort(path) }
            #expect(throws: SystemCallError("stat", number: ENODEV, subject: path)) {
                try HardwareWatchdog(path, seconds: 15, isSimulated: true)
            }
        }
        try withoutDriver { path in
            #expect(throws: SystemCallError("stat", number: ENOTTY, subject: path)) { try SerialPort(path) }
            #expect(throws: SystemCallError("stat", number: ENODEV, subject: path)) {
                try HardwareWatchdog(path, seconds: 15)
            }
        }
    }

    @Test func filesAreNotDevices() throws {
        let directory = try TemporaryDirectory()
        for path in [directory.path, "\(directory.path)/missing", "/etc/passwd"] {
            #expect(throws: SystemCallError.self) { try SerialPort(path) }
            #expect(throws: SystemCallError.self) { try HardwareWatchdog(path, seconds: 15) }
        }
    }
}
