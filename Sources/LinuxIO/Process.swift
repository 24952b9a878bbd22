import CLinux
import Glibc
import Media

/// Settings of the whole process, to be made at its start.
public enum ProcessSettings {
    /// A write to a closed pipe or socket fails with EPIPE instead of ending the process.
    public static func ignoreBrokenPipeSignal() { signal(SIGPIPE, SIG_IGN) }

    /// Opens what the caller closed of standard input, output and error as /dev/null: a socket or file that got
    /// such a number would be written to as if it were the terminal.
    public static func reserveStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is taken: this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// No core dump, and no tracing by other processes of the same user: memory holds secrets.
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

    /// The size of the terminal behind a descriptor; `nil` when it is none or does not know (a bare serial line).
    public init?(of fileDescriptor: Int32) {
        var size = winsize()
        guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        columns = Int(size.ws_col)
        rows = Int(size.ws_row)
    }
}

/// Whether a descriptor is a terminal.
public func isTerminal(_ fileDescriptor: Int32) -> Bool { isatty(fileDescriptor) == 1 }

/// Whether a descriptor leads to another program: a pipe or a socket.
public func isPipe(_ fileDescriptor: Int32) -> Bool {
    var status = stat()
    return fstat(fileDescriptor, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
}

/// A variable of the environment; `nil` when it is not set.
public func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
