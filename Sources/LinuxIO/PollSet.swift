import Media

/// Descriptors and deadlines to wait for, by name: only here, other modules can read what `poll` found. Fill it for each wait,
/// since the set changes.
///
///     var waits: PollSet<Waited> = [.stop: stop.fileDescriptor, .device: device.fileDescriptor]
///     try waits.wait(until: deadline)
///     if waits.isReady(.stop) { return }
///
/// Threads wait several times per frame, so the code is specialized for each caller's name type. These threads keep one set
/// and empty it: that allocates nothing.
public struct PollSet<Name: Equatable>: ExpressibleByDictionaryLiteral {
    /// One name for each entry.
    @usableFromInline var names: [Name] = []
    @usableFromInline var entries: [PollEntry] = []
    @usableFromInline var deadline: MediaTimestamp?

    @inlinable
    public init() {}

    @inlinable
    public init(dictionaryLiteral descriptors: (Name, Int32)...) {
        names.reserveCapacity(descriptors.count)
        entries.reserveCapacity(descriptors.count)
        for (name, descriptor) in descriptors { add(name, descriptor) }
    }

    /// - Parameter fileDescriptor: a negative number is ignored.
    @inlinable
    public mutating func add(_ name: Name, _ fileDescriptor: Int32, for interest: PollEvents = .readable) {
        names.append(name)
        entries.append(PollEntry(fileDescriptor, interest))
    }

    /// - Parameter entries: all entries of this name.
    @inlinable
    public mutating func add(_ name: Name, _ entries: [PollEntry]) {
        for entry in entries {
            names.append(name)
            self.entries.append(entry)
        }
    }

    /// Replaces the descriptor of a name that is in the set once.
    @inlinable
    public mutating func update(_ name: Name, _ fileDescriptor: Int32, for interest: PollEvents = .readable) {
        for index in entries.indices where names[index] == name { entries[index] = PollEntry(fileDescriptor, interest) }
    }

    /// Empties the set but keeps its memory, for threads that wait several times per frame.
    @inlinable
    public mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        deadline = nil
    }

    /// Ends the wait at this time at the latest.
    /// - Parameter time: `nil` changes nothing.
    @inlinable
    public mutating func wake(at time: MediaTimestamp?) {
        guard let time else { return }
        deadline = deadline.map { min($0, time) } ?? time
    }

    /// Waits until a descriptor is ready or the first deadline passes; forever without deadlines.
    /// - Parameter time: an additional deadline, for this wait only.
    /// - Returns: whether a descriptor is ready.
    @inlinable
    @discardableResult
    public mutating func wait(until time: MediaTimestamp? = nil) throws(SystemCallError) -> Bool {
        let end = time.map { time in deadline.map { min($0, time) } ?? time } ?? deadline
        return try poll(&entries, until: end) > 0
    }

    /// The events found for a name; empty for a name that is not in the set.
    @inlinable
    public func ready(_ name: Name) -> PollEvents {
        var events = PollEvents()
        for index in entries.indices where names[index] == name { events.formUnion(entries[index].ready) }
        return events
    }

    @inlinable
    public func isReady(_ name: Name) -> Bool { !ready(name).isEmpty }
}
