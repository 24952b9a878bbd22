import Media

/// Descriptors and deadlines to wait for, by name. It is made for one wait, as what there is to wait for changes.
///
///     var waits: PollSet<Waited> = [.stop: stop.fileDescriptor, .device: device.fileDescriptor]
///     try waits.wait(until: deadline)
///     if waits.isReady(.stop) { return }
public struct PollSet<Name: Hashable>: ExpressibleByDictionaryLiteral {
    private var names: [Name] = []
    private var entries: [PollEntry] = []
    private var deadline: MediaTimestamp?

    public init() {}

    public init(dictionaryLiteral descriptors: (Name, Int32)...) {
        for (name, descriptor) in descriptors { add(name, descriptor) }
    }

    /// - Parameter fileDescriptor: a negative number is passed over.
    public mutating func add(_ name: Name, _ fileDescriptor: Int32, for interest: PollEvents = .readable) {
        add(name, [PollEntry(fileDescriptor, interest)])
    }

    /// - Parameter entries: all that the name stands for.
    public mutating func add(_ name: Name, _ entries: [PollEntry]) {
        names += entries.map { _ in name }
        self.entries += entries
    }

    /// The wait ends at this time at the latest.
    /// - Parameter time: `nil` changes nothing.
    public mutating func wake(at time: MediaTimestamp?) {
        guard let time else { return }
        deadline = deadline.map { min($0, time) } ?? time
    }

    /// Waits until a descriptor is ready or the first deadline has come; for ever without deadlines.
    /// - Parameter time: one more deadline.
    /// - Returns: whether a descriptor is ready.
    @discardableResult
    public mutating func wait(until time: MediaTimestamp? = nil) throws(SystemCallError) -> Bool {
        wake(at: time)
        return try poll(&entries, until: deadline) > 0
    }

    /// The findings of the wait; empty for a name that was not waited for.
    public func ready(_ name: Name) -> PollEvents {
        var events = PollEvents()
        for (index, entry) in entries.enumerated() where names[index] == name { events.formUnion(entry.ready) }
        return events
    }

    public func isReady(_ name: Name) -> Bool { !ready(name).isEmpty }
}
