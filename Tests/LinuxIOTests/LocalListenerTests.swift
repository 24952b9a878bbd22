import Glibc
import LinuxIO
import Testing

@Suite struct LocalListenerTests {
    let directory: TemporaryDirectory
    private var path: String { directory.path + "/socket" }

    init() throws { directory = try TemporaryDirectory() }

    @Test func onlyOneProcessListensAtATime() throws {
        var first: LocalListener? = try LocalListener(path: path)
        #expect(throws: LocalListenerError.inUse(path: path)) { try LocalListener(path: path) }
        // The failed attempt has not removed the first one's socket.
        _ = try connectLocal(path)
        #expect(first?.accept()?.rawValue ?? -1 >= 0)
        first = nil
        #expect(directory.names == ["socket.lock"])
        // Until it runs its program, a child that another test has just started has a copy of the lock.
        var next: LocalListener?
        for _ in 0..<10_000 where next == nil {
            next = try? LocalListener(path: path)
            if next == nil { usleep(10_000) }
        }
        #expect(next != nil)
    }

    /// A socket file without a process, as a killed process leaves it.
    @Test func deadSocketIsReplaced() throws {
        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        bindSocket(left, to: path)
        close(left)
        #expect(throws: SystemCallError.self) { _ = try connectLocal(path) }
        let listener = try LocalListener(path: path)
        _ = try connectLocal(path)
        #expect(listener.accept()?.rawValue ?? -1 >= 0)
    }

    /// A listener that holds no lock and accepts no connection.
    @Test func listeningSocketIsLeftAlone() throws {
        let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(other) }
        bindSocket(other, to: path)
        listen(other, 0)
        for _ in 0..<3 {
            #expect(throws: LocalListenerError.inUse(path: path)) { try LocalListener(path: path) }
        }
        #expect(directory.names.contains("socket"))
    }

    @Test func regularFileIsNotReplacedByASocket() throws {
        try replaceFile(path, with: [1])
        let expected = LocalListenerError.failed(SystemCallError("bind", number: EEXIST, subject: path))
        #expect(throws: expected) { try LocalListener(path: path) }
        #expect("\(expected)" == "bind \(path): File exists (EEXIST); the file there is not a socket")
        #expect(try readFile(path, limit: 10) == [1])
    }

    @Test func missingDirectoryIsNamed() {
        let path = directory.path + "/none/socket"
        #expect { try LocalListener(path: path) } throws: { error in
            "\(error)".hasPrefix("open \(path).lock: No such file or directory")
        }
    }

    private func bindSocket(_ descriptor: Int32, to path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(result == 0)
    }
}
