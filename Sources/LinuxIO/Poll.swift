import CLinux
import Glibc
import Media

/// The conditions to wait for, or that were found (poll(2)).
public struct PollEvents: OptionSet, Hashable, Sendable {
    public let rawValue: Int16
    public init(rawValue: Int16) { self.rawValue = rawValue }

    public static let readable = PollEvents(rawValue: Int16(POLLIN))
    public static let writable = PollEvents(rawValue: Int16(POLLOUT))
    /// POLLPRI: a V4L2 event, a sysfs attribute that changed.
    public static let priority = PollEvents(rawValue: Int16(POLLPRI))
    /// An error is pending. Always reported.
    public static let error = PollEvents(rawValue: Int16(POLLERR))
    /// The peer has closed the connection. Always reported.
    public static let hangUp = PollEvents(rawValue: Int16(POLLHUP))
    /// The number is not an open descriptor. Always reported.
    public static let invalid = PollEvents(rawValue: Int16(POLLNVAL))
}

/// One descriptor to wait for.
public struct PollEntry: Sendable {
    // The only stored property, so that an array of entries has the memory layout ppoll expects.
    private var entry: pollfd

    /// - Parameter fileDescriptor: a negative number is ignored.
    public init(_ fileDescriptor: Int32, _ interest: PollEvents = .readable) {
        entry = pollfd(fd: fileDescriptor, events: interest.rawValue, revents: 0)
    }

    public var fileDescriptor: Int32 { entry.fd }
    public var interest: PollEvents {
        get { PollEvents(rawValue: entry.events) }
        set { entry.events = newValue.rawValue }
    }
    /// What `poll` found. Other modules read it from a `PollSet`, by name.
    @usableFromInline var ready: PollEvents { PollEvents(rawValue: entry.revents) }
}

/// Waits until a descriptor is ready or the clock shows `deadline`.
/// - Parameters:
///   - entries: what to wait for; receives the results.
///   - deadline: on CLOCK_MONOTONIC; `nil` waits forever.
/// - Returns: how many entries are ready; 0 at the deadline.
@discardableResult
public func poll(_ entries: inout [PollEntry], until deadline: MediaTimestamp?) throws(SystemCallError) -> Int {
    if let time = CurrentTime.replacement {
        return try ThreadActivity.wait { () throws(SystemCallError) in try time.poll(&entries, until: deadline) }
    }
    while true {
        let count = ThreadActivity.wait { pollOnce(&entries, until: deadline) }
        if count >= 0 { return Int(count) }
        guard count == -EINTR else { throw SystemCallError("ppoll", number: -count) }
    }
}

extension OwnedFileDescriptor {
    /// Whether the peer has closed the socket in both directions (POLLHUP). Never blocks.
    public var isHungUp: Bool {
        var entries = [PollEntry(rawValue, [])]
        return pollOnce(&entries, until: .zero) > 0 && !entries[0].ready.isEmpty
    }
}

/// One call of ppoll(2).
/// - Returns: the result of ppoll, or its negated error number.
private func pollOnce(_ entries: inout [PollEntry], until deadline: MediaTimestamp?) -> Int32 {
    entries.withUnsafeMutableBufferPointer { buffer in
        buffer.withMemoryRebound(to: pollfd.self) { raw -> Int32 in
            var count: Int32
            if let deadline {
                var timeout = timespec(nanoseconds: (deadline - MonotonicClock.now()).wholeNanoseconds)
                count = clinux_ppoll(raw.baseAddress, nfds_t(raw.count), &timeout)
            } else {
                count = clinux_ppoll(raw.baseAddress, nfds_t(raw.count), nil)
            }
            return count < 0 ? -errno : count
        }
    }
}
