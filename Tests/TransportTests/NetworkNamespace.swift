import Glibc
import LinuxIO
import Media
import Synchronization

struct SupportFailure: Error { let what: String }

/// Runs `body` on a thread with its own network and file tree: loopback is up, and it may mount, add links and use any port.
/// Return the results and check them outside.
func inNetworkNamespace<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    let thread = try NamedThread("namespace") {
        let result = Result {
            try unshareNetworkAndMounts()
            try shell("ip link set lo up")
            return try body()
        }
        outcome.withLock { $0 = result }
    }
    thread.join()
    guard let result = outcome.withLock({ $0 }) else { throw SupportFailure(what: "no outcome") }
    return try result.get()
}

private func unshareNetworkAndMounts() throws {
    // Declared for GNU sources only, so Swift does not see it.
    typealias Unshare = @convention(c) (Int32) -> Int32
    guard let symbol = dlsym(nil, "unshare") else { throw SupportFailure(what: "unshare") }
    let newNetworkAndMounts: Int32 = 0x4000_0000 | 0x0002_0000
    guard unsafeBitCast(symbol, to: Unshare.self)(newNetworkAndMounts) == 0 else { throw SystemCallError("unshare") }
}

/// Runs a shell command to completion, in the namespaces of the calling thread.
func shell(_ command: String) throws {
    let status = try ChildProcess(["sh", "-euc", command]).wait()
    guard status == 0 else { throw SupportFailure(what: "\(command): status \(status)") }
}

/// A program that runs alongside the test and is killed with the object.
final class ChildProcess {
    private var identifier: pid_t = 0
    private var isRunning = true
    /// The program's output, if requested.
    let output: Int32
    private let input: Int32

    init(_ arguments: [String], capturesOutput: Bool = false) throws {
        var fromChild: [Int32] = [-1, -1]
        var toChild: [Int32] = [-1, -1]
        guard pipe(&fromChild) == 0, pipe(&toChild) == 0 else { throw SystemCallError("pipe") }
        for descriptor in fromChild + toChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        if capturesOutput {
            posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
            posix_spawn_file_actions_adddup2(&actions, fromChild[1], 2)
        }
        let strings = arguments.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        let number = posix_spawnp(&identifier, arguments[0], &actions, nil, strings + [nil], environ)
        close(toChild[0])
        close(fromChild[1])
        output = fromChild[0]
        input = toChild[1]
        guard number == 0 else {
            isRunning = false
            throw SystemCallError("posix_spawnp", number: number, subject: arguments[0])
        }
    }

    /// - Returns: the exit status.
    func wait() -> Int32 {
        var status: Int32 = 0
        while isRunning, waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        isRunning = false
        return (status >> 8) & 0xff
    }

    /// Reads the program's output until `text` appears.
    func waitForOutput(_ text: String) throws {
        var seen: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            seen.append(byte)
            if seen.suffix(text.utf8.count).elementsEqual(text.utf8) { return }
        }
        throw SupportFailure(what: "\"\(text)\" did not come, but: \(String(decoding: seen, as: UTF8.self))")
    }

    /// Reads this many bytes of the program's output; calls `meanwhile` whenever it has to wait.
    func readOutput(_ count: Int, meanwhile: () throws -> Void) throws -> ArraySlice<UInt8> {
        var received: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while received.count < count {
            var entries = [PollEntry(output)]
            if try poll(&entries, until: MonotonicClock.now() + .milliseconds(20)) == 0 {
                try meanwhile()
                continue
            }
            let size = read(output, &block, min(block.count, count - received.count))
            guard size > 0 else { break }
            received += block[..<size]
        }
        return received[...]
    }

    /// Writes a line to the program's standard input.
    func say(_ line: String) {
        let bytes = Array(line.utf8) + [10]
        _ = write(input, bytes, bytes.count)
    }

    deinit {
        if isRunning {
            kill(identifier, SIGKILL)
            _ = wait()
        }
        close(output)
        close(input)
    }
}
