import CLinux
import Glibc

/// A POSIX thread with a name that `ps -L` and `top -H` show.
///
/// Join it, or drop it to let it run on by itself.
public struct NamedThread: ~Copyable, Sendable {
    private let thread: pthread_t
    /// The thread's number in a replaced clock; 0 for kernel time.
    private let number: Int

    /// Starts the thread.
    /// - Parameters:
    ///   - name: cut to 15 bytes, the kernel's limit.
    ///   - stackSize: in bytes, whole pages. Memory is used only as the stack grows.
    ///   - mayBlock: whether it makes calls of unbounded duration, such as getaddrinfo. `ThreadActivity` ignores it then.
    ///   - body: what the thread does. Everything it captures belongs to the new thread.
    /// Signals to the process are never delivered here; they go to the main thread.
    public init(
        _ name: String, stackSize: Int = 512 * 1024, mayBlock: Bool = false, _ body: sending @escaping () -> Void
    ) throws(SystemCallError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        var status = pthread_attr_setstacksize(&attributes, stackSize)
        guard status == 0 else {
            throw SystemCallError("pthread_attr_setstacksize", number: status, subject: "\(stackSize) bytes")
        }
        let time = CurrentTime.replacement
        let number = try time?.threadStarts(name) ?? 0
        let start = Unmanaged.passRetained(
            ThreadStart(name: name, mayBlock: mayBlock, time: time, number: number, body: body))
        var thread = pthread_t()
        var (all, own) = (sigset_t(), sigset_t())
        sigfillset(&all)
        // The new thread inherits this mask.
        pthread_sigmask(SIG_SETMASK, &all, &own)
        status = pthread_create(&thread, &attributes, runThread, start.toOpaque())
        pthread_sigmask(SIG_SETMASK, &own, nil)
        guard status == 0 else {
            start.release()
            time?.threadEnded(number)
            throw SystemCallError("pthread_create", number: status, subject: "thread \(name)")
        }
        self.thread = thread
        self.number = number
    }

    deinit { pthread_detach(thread) }

    /// Gives the calling thread a lower priority than the program's other threads. For slow background work.
    public static func lowerPriority() { clinux_lower_priority(10) }

    /// Waits for the thread to end.
    public consuming func join() {
        let (thread, number) = (thread, number)
        discard self
        CurrentTime.replacement?.waitForEnd(of: number)
        ThreadActivity.wait { _ = pthread_join(thread, nil) }
    }
}

/// Passed to the new thread as a raw pointer; the starting thread keeps no reference.
private final class ThreadStart {
    let name: String
    let mayBlock: Bool
    let time: (any ThreadTime)?
    let number: Int
    private let body: () -> Void

    init(name: String, mayBlock: Bool, time: (any ThreadTime)?, number: Int, body: @escaping () -> Void) {
        self.name = name
        self.mayBlock = mayBlock
        self.time = time
        self.number = number
        self.body = body
    }

    func run() {
        if mayBlock { body() } else { ThreadActivity.watch(name, body) }
    }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    var start: ThreadStart? = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    clinux_name_thread(String(decoding: (start?.name ?? "").utf8.prefix(15), as: UTF8.self))
    guard let time = start?.time, let number = start?.number else {
        start?.run()
        return nil
    }
    CurrentTime.with(time) {
        start?.run()
        // Release the body's captures while this clock still applies.
        start = nil
    }
    time.threadEnded(number)
    return nil
}
