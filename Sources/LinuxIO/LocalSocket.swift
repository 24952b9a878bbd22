import CLinux
import Glibc

/// Why a Unix socket cannot be listened on.
public enum LocalListenerError: Error, Hashable, Sendable {
    /// Another process is listening there.
    case inUse(path: String)
    case failed(SystemCallError)

    public var isInUse: Bool { if case .inUse = self { true } else { false } }
}

extension LocalListenerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .inUse(let path): "another process listens at \(path); end it, or give another path"
        case .failed(let error) where error.number == EEXIST: "\(error); the file there is not a socket"
        case .failed(let error): "\(error)"
        }
    }
}

/// A listening Unix socket (unix(7)). Its file is removed when the object goes away.
public final class LocalListener {
    private let socket: OwnedFileDescriptor
    private let path: String
    /// Held until the process ends, however it ends. Without it, two processes that start together could both find the socket
    /// free.
    private let lock: OwnedFileDescriptor

    /// Replaces a socket that a dead process left behind. Only the owner may connect.
    public init(path: String) throws(LocalListenerError) {
        self.path = path
        do throws(SystemCallError) {
            lock = try OwnedFileDescriptor(
                opening: "\(path).lock", flags: O_RDWR | O_CREAT | O_NOFOLLOW, permissions: 0o600)
            guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw SystemCallError("flock", subject: path) }
            socket = try Self.bound(path)
        } catch {
            throw error.number == EWOULDBLOCK || error.number == EADDRINUSE ? .inUse(path: path) : .failed(error)
        }
    }

    private static func bound(_ path: String) throws(SystemCallError) -> OwnedFileDescriptor {
        var status = stat()
        if lstat(path, &status) == 0 {
            // A mistyped path may name a file that someone needs.
            guard status.st_mode & S_IFMT == S_IFSOCK else {
                throw SystemCallError("bind", number: EEXIST, subject: path)
            }
            guard !isListenedOn(path) else { throw SystemCallError("bind", number: EADDRINUSE, subject: path) }
        }
        let socket = try makeLocalSocket()
        unlink(path)
        let previous = umask(0o077)
        let result = withAddress(of: path) { bind(socket.rawValue, $0, $1) }
        umask(previous)
        guard result == 0 else { throw SystemCallError("bind", subject: path) }
        guard listen(socket.rawValue, 8) == 0 else { throw SystemCallError("listen", subject: path) }
        try socket.setNonBlocking()
        return socket
    }

    /// Whether a process that does not hold the lock is listening.
    private static func isListenedOn(_ path: String) -> Bool {
        guard let probe = try? makeLocalSocket() else { return false }
        // A blocking connect would hang when the backlog is full.
        guard (try? probe.setNonBlocking()) != nil else { return false }
        return withAddress(of: path) { connect(probe.rawValue, $0, $1) } == 0 || errno == EAGAIN
    }

    deinit { unlink(path) }

    /// Readable when `accept` has a connection.
    public var fileDescriptor: Int32 { socket.rawValue }

    /// The next connection, non-blocking; `nil` without one.
    public func accept() -> OwnedFileDescriptor? {
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let connection = clinux_accept4(socket.rawValue, nil, nil, flags)
        return connection >= 0 ? OwnedFileDescriptor(adopting: connection) : nil
    }
}

/// A Unix datagram socket with its own name, so that its peer can answer (unix(7)). Its file is removed when the object goes
/// away.
public final class LocalDatagramSocket {
    private let socket: OwnedFileDescriptor
    private let path: String

    /// Replaces a file that an earlier process left behind.
    /// - Parameter peer: name of the only socket that it talks to and hears.
    public init(path: String, peer: String) throws(SystemCallError) {
        self.path = path
        socket = try makeLocalSocket(type: SOCK_DGRAM)
        unlink(path)
        guard withAddress(of: path, { bind(socket.rawValue, $0, $1) }) == 0 else {
            throw SystemCallError("bind", subject: path)
        }
        guard withAddress(of: peer, { connect(socket.rawValue, $0, $1) }) == 0 else {
            throw SystemCallError("connect", subject: peer)
        }
        try socket.setNonBlocking()
    }

    deinit { unlink(path) }

    /// Readable when `receive` has a message.
    public var fileDescriptor: Int32 { socket.rawValue }

    public func send(_ message: [UInt8]) throws(SystemCallError) {
        guard Glibc.send(socket.rawValue, message, message.count, Int32(MSG_NOSIGNAL)) >= 0 else {
            throw SystemCallError("send", subject: path)
        }
    }

    /// The next message, cut off at `limit` bytes; `nil` without one.
    public func receive(limit: Int) throws(SystemCallError) -> [UInt8]? {
        var message = [UInt8](repeating: 0, count: limit)
        let count = recv(socket.rawValue, &message, limit, 0)
        if count >= 0 { return Array(message[..<count]) }
        if errno == EAGAIN || errno == EINTR { return nil }
        throw SystemCallError("recv", subject: path)
    }
}

/// Connects to a Unix socket.
public func connectLocal(_ path: String) throws(SystemCallError) -> OwnedFileDescriptor {
    let socket = try makeLocalSocket()
    guard withAddress(of: path, { connect(socket.rawValue, $0, $1) }) == 0 else {
        throw SystemCallError("connect", subject: path)
    }
    return socket
}

private func makeLocalSocket(
    type: __socket_type = SOCK_STREAM
) throws(SystemCallError) -> OwnedFileDescriptor {
    let number = Glibc.socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemCallError("socket", subject: "unix") }
    return OwnedFileDescriptor(adopting: number)
}

private func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
        guard bytes.count < room.count else { return false }
        room.copyBytes(from: bytes)
        return true
    }
    guard fits else {
        errno = ENAMETOOLONG
        return -1
    }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
