import Media

/// Descriptors and deadlines to wait for, by name. It is made or filled for one wait, as what there is to wait for changes.
///
///     var waits: PollSet<Waited> = [.stop: stop.fileDescriptor, .device: device.fileDescriptor]
///     try waits.wait(until: deadline)
///     if waits.isReady(.stop) { return }
///
/// Threads wait several times for each frame: the code is compiled for the names of each caller.
public struct PollSet<Name: Equatable>: ExpressibleByDictionaryLiteral {
    /// Of each entry.
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

    /// - Parameter fileDescriptor: a negative number is passed over.
    @inlinable
    public mutating func add(_ name: Name, _ fileDescriptor: Int32, for interest: PollEvents = .readable) {
        names.append(name)
        entries.append(PollEntry(fileDescriptor, interest))
    }

    /// - Parameter entries: all that the name stands for.
    @inlinable
    public mutating func add(_ name: Name, _ entries: [PollEntry]) {
        for entry in entries {
            names.append(name)
            self.entries.append(entry)
        }
    }

    /// Empties it for another wait and keeps its memory: for what waits several times for each frame.
    @inlinable
    public mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        deadline = nil
    }

    /// The wait ends at this time at the latest.
    /// - Parameter time: `nil` changes nothing.
    @inlinable
    public mutating func wake(at time: MediaTimestamp?) {
        guard let time else { return }
        deadline = deadline.map { min($0, time) } ?? time
    }

    /// Waits until a descriptor is ready or the first deadline has come; for ever without deadlines.
    /// - Parameter time: one more deadline.
    /// - Returns: whether a descriptor is ready.
    @inlinable
    @discardableResult
    public mutating func wait(until time: MediaTimestamp? = nil) throws(SystemCallError) -> Bool {
        wake(at: time)
        return try poll(&entries, until: deadline) > 0
    }

    /// The findings of the wait; empty for a name that was not waited for.
    @inlinable
    public func ready(_ name: Name) -> PollEvents {
        var events = PollEvents()
        for index in entries.indices where names[index] == name { events.formUnion(entries[index].ready) }
        return events
    }

    @inlinable
    public func isReady(_ name: Name) -> Bool { !ready(name).isEmpty }
}
