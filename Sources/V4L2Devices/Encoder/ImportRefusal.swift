import Synchronization

/// Remembers that an encoder's driver cannot read a source's memory in place. Detected with the first frame, reported once, and
/// respected by later openings. Any thread.
public final class ImportRefusal: Sendable {
    private let hasHappened = Atomic(false)

    public init() {}

    var isKnown: Bool { hasHappened.load(ordering: .relaxed) }
    func happened() { hasHappened.store(true, ordering: .relaxed) }
}
