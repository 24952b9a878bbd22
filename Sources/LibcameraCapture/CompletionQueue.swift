import CLibcamera
import LinuxIO
import Synchronization

/// Passes completions from libcamera's thread to the camera's thread.
final class CompletionQueue: Sendable {
    struct State {
        var completions: [clibcamera_completion] = []
        var isDisconnected = false
    }

    private let state = Mutex(State())
    let wakeup: EventFD

    init() throws(SystemCallError) { wakeup = try EventFD() }

    func append(_ completion: clibcamera_completion) {
        state.withLock { $0.completions.append(completion) }
        wakeup.signal()
    }

    func disconnected() {
        state.withLock { $0.isDisconnected = true }
        wakeup.signal()
    }

    /// The callbacks for libcamera. They do not retain the queue, which must outlive the session.
    var listener: clibcamera_listener {
        clibcamera_listener(
            context: Unmanaged.passUnretained(self).toOpaque(),
            completed: { context, completion in
                guard let context, let completion else { return }
                Unmanaged<CompletionQueue>.fromOpaque(context).takeUnretainedValue().append(completion.pointee)
            },
            disconnected: { context in
                guard let context else { return }
                Unmanaged<CompletionQueue>.fromOpaque(context).takeUnretainedValue().disconnected()
            })
    }

    /// Returns everything since the last call.
    func take() -> State {
        state.withLock { state in
            let taken = state
            state.completions = []
            return taken
        }
    }
}
