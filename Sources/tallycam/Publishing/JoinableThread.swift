import LinuxIO

/// A thread that is kept where values that cannot be copied do not fit.
final class JoinableThread {
    private var thread: NamedThread?

    init(_ thread: consuming NamedThread) { self.thread = consume thread }

    /// Waits for its end, once.
    func join() { thread.take()?.join() }
}
