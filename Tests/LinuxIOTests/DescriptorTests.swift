import Glibc
import Media
import Synchronization
import Testing

@testable import LinuxIO

private func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

/// Both ends of a pipe.
private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemCallError("pipe") }
    return (ends[0], ends[1])
}

@Suite struct OwnedFileDescriptorTests {
    @Test func closesOnceWhenLeavingScope() throws {
        let file = try OwnedFileDescriptor(opening: "/dev/null", flags: O_RDWR)
        // A number that no other test's descriptor uses.
        let number: Int32 = 300
        #expect(dup2(file.rawValue, number) == number)
        do {
            let owner = OwnedFileDescriptor(adopting: number)
            #expect(isOpen(owner.rawValue))
        }
        #expect(!isOpen(number))
        #expect(dup2(file.rawValue, number) == number)
        try OwnedFileDescriptor(adopting: number).close()
        #expect(!isOpen(number))
        #expect(throws: SystemCallError("close", number: EBADF)) {
            try OwnedFileDescriptor(adopting: number).close()
        }
        #expect(dup2(file.rawValue, number) == number)
        #expect(OwnedFileDescriptor(adopting: number).release() == number)
        #expect(isOpen(number))
        close(number)
    }

    @Test func isClosedOnExec() throws {
        let file = try OwnedFileDescriptor(opening: "/dev/null", flags: O_RDWR)
        #expect(fcntl(file.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(try file.duplicate().rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func readsAndWritesEverything() throws {
        let ends = try makePipe()
        let reader = OwnedFileDescriptor(adopting: ends.read)
        // More than the pipe holds, so both sides have to loop.
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let thread = try NamedThread("pipe writer") {
            let writer = OwnedFileDescriptor(adopting: ends.write)
            try? writer.writeAll(bytes)
        }
        var received = [UInt8](repeating: 0, count: bytes.count + 1)
        let count = try received.withMutableBytes { bytes throws(SystemCallError) in try reader.readAll(into: bytes) }
        #expect(count == bytes.count)
        #expect(received.dropLast() == bytes[...])
        thread.join()
    }

    @Test func distinguishesNoDataFromEndOfFile() throws {
        let ends = try makePipe()
        let reader = OwnedFileDescriptor(adopting: ends.read)
        let writer = OwnedFileDescriptor(adopting: ends.write)
        try reader.setNonBlocking()
        var buffer = [UInt8](repeating: 0, count: 4)
        func readSome() throws(SystemCallError) -> Int? {
            try buffer.withMutableBytes { bytes throws(SystemCallError) in try reader.readIfReady(into: bytes) }
        }
        #expect(try readSome() == nil)
        try writer.writeAll([1, 2])
        #expect(try readSome() == 2)
        try writer.close()
        // A child that another test has just started may still have a copy of the writer.
        var entries = [PollEntry(reader.rawValue)]
        #expect(try poll(&entries, until: MonotonicClock.now() + .seconds(600)) == 1)
        #expect(try readSome() == 0)
    }
}

@Suite struct EventDescriptorTests {
    @Test func wakesAPollFromAnotherThread() throws {
        let event = try EventFD()
        var entries = [PollEntry(event.fileDescriptor), PollEntry(-1)]
        let thread = try NamedThread("signaler") { event.signal() }
        #expect(try poll(&entries, until: nil) == 1)
        #expect(entries[0].ready == .readable)
        #expect(entries[1].ready == [])
        thread.join()
        event.signal()
        #expect(event.drain())
        #expect(!event.drain())
        #expect(try poll(&entries, until: .zero) == 0)
        #expect(entries[0].ready == [])
    }

    @Test func pollReturnsAtItsDeadline() throws {
        let event = try EventFD()
        let deadline = MonotonicClock.now() + .milliseconds(5)
        var entries = [PollEntry(event.fileDescriptor)]
        #expect(try poll(&entries, until: deadline) == 0)
        #expect(MonotonicClock.now() >= deadline)
    }

    @Test func readsSignalsAsADescriptor() throws {
        // On its own thread: the signal stays blocked only there.
        let received = Mutex<[Int32]>([])
        let thread = try NamedThread("signals") {
            guard let signals = try? SignalFD([SIGUSR1, SIGUSR2]) else { return }
            pthread_kill(pthread_self(), SIGUSR2)
            var entries = [PollEntry(signals.fileDescriptor)]
            _ = try? poll(&entries, until: nil)
            received.withLock { $0 = [signals.next(), signals.next()].compactMap { $0 } }
        }
        thread.join()
        #expect(received.withLock { $0 } == [SIGUSR2])
    }
}

@Suite struct NamedThreadTests {
    @Test func threadCarriesItsName() throws {
        let name = Mutex("")
        let thread = try NamedThread("network-publisher") {
            let text = try? readFile("/proc/thread-self/comm", limit: 100)
            name.withLock { $0 = String(decoding: text ?? [], as: UTF8.self) }
        }
        thread.join()
        #expect(name.withLock { $0 } == "network-publish\n")
    }

    @Test func droppedThreadRunsOn() throws {
        let event = try EventFD()
        do { _ = try NamedThread("dropped") { event.signal() } }
        var entries = [PollEntry(event.fileDescriptor)]
        #expect(try poll(&entries, until: nil) == 1)
    }

    @Test func refusesAnImpossibleStackSize() {
        #expect(throws: SystemCallError("pthread_attr_setstacksize", number: EINVAL, subject: "1 bytes")) {
            _ = try NamedThread("tiny", stackSize: 1) {}
        }
    }
}

@Suite struct ProcessTests {
    @Test func recognizesATerminal() throws {
        let file = try OwnedFileDescriptor(opening: "/dev/null", flags: O_RDWR)
        #expect(!isTerminal(file.rawValue))
        #expect(TerminalSize(of: file.rawValue) == nil)
        let terminal = try OwnedFileDescriptor(opening: "/dev/ptmx", flags: O_RDWR | O_NOCTTY)
        #expect(isTerminal(terminal.rawValue))
        #expect(TerminalSize(of: terminal.rawValue) == nil)
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(terminal.rawValue, UInt(TIOCSWINSZ), &size) == 0)
        #expect(TerminalSize(of: terminal.rawValue)?.columns == 80)
    }

    @Test func wallClockIsAfter2020() { #expect(WallClock.secondsSince1970() > 1_600_000_000) }
}
