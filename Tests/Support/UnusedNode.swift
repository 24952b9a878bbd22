import Synchronization

private let lastNode = Atomic(1000)

/// The path of a device node that no other test has. What a test leaves in its node ends a moment after it, and another one would
/// wait for that in a time of its own, which may jump over the end of the wait at once.
public func unusedNode() -> String {
    "/dev/video\(lastNode.wrappingAdd(1, ordering: .relaxed).newValue)"
}
