/// A thread that is kept where values that cannot be copied do not fit.
public final class JoinableThread {
    private var thread: NamedThread?

    public init(_ thread: consuming NamedThread) { self.thread = consume thread }

    /// Waits for its end, once.
    public func join() { thread.take()?.join() }
}
