import CLinux
import Glibc
import Media

/// Process-wide settings, made once at startup.
public enum ProcessSettings {
    /// Makes a write to a closed pipe or socket fail with EPIPE instead of killing the process.
    public static func ignoreBrokenPipeSignal() { signal(SIGPIPE, SIG_IGN) }

    /// Opens /dev/null for any of standard input, output and error that the caller closed. Otherwise a socket or file could get
    /// that number and be written to as if it were the terminal.
    public static func reserveStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // open takes the lowest free number, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Forbids core dumps, and tracing by other processes of the same user: memory holds secrets.
    public static func disableCoreDumps() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        clinux_set_dumpable(0)
    }
}

/// Width and height of a terminal in characters.
public struct TerminalSize: Hashable, Sendable {
    public let columns: Int
    public let rows: Int

    /// The size of the terminal behind a descriptor; `nil` if it is not a terminal or has no size (a bare serial line).
    public init?(of fileDescriptor: Int32) {
        var size = winsize()
        guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        columns = Int(size.ws_col)
        rows = Int(size.ws_row)
    }
}

public func isTerminal(_ fileDescriptor: Int32) -> Bool { isatty(fileDescriptor) == 1 }

/// Whether a descriptor leads to another program: a pipe or a socket.
public func isPipe(_ fileDescriptor: Int32) -> Bool {
    var status = stat()
    return fstat(fileDescriptor, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
}

/// An environment variable; `nil` if it is not set.
public func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
