import Synchronization

/// That an encoder's driver does not read a source's memory where it is: found out with a frame, reported once, and known to the
/// openings that follow. Any thread.
public final class ImportRefusal: Sendable {
    private let hasHappened = Atomic(false)

    public init() {}

    var isKnown: Bool { hasHappened.load(ordering: .relaxed) }
    func happened() { hasHappened.store(true, ordering: .relaxed) }
}
