/// Holds a thread where a noncopyable value does not fit.
public final class JoinableThread {
    private var thread: NamedThread?
    private let time = CurrentTime.replacement

    public init(_ thread: consuming NamedThread) { self.thread = consume thread }

    /// Waits for the thread to end. Later calls do nothing.
    public func join() {
        // The thread may need its own clock to end, and the last owner may run on another one.
        if let time { CurrentTime.with(time, end) } else { end() }
    }

    private func end() { thread.take()?.join() }
}
