/// A thread that is kept where values that cannot be copied do not fit.
public final class JoinableThread {
    private var thread: NamedThread?
    private let time = CurrentTime.replacement

    public init(_ thread: consuming NamedThread) { self.thread = consume thread }

    /// Waits for its end, once.
    public func join() {
        // It may need time to end, and whoever is the last to let go of it may have another.
        if let time { CurrentTime.with(time, end) } else { end() }
    }

    private func end() { thread.take()?.join() }
}
