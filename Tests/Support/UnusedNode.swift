import Synchronization

private let lastNode = Atomic(1000)

/// The path of a device node that no other test uses. A test's node may stay occupied for a moment after the test. Another test
/// would wait for it in its own virtual time, which may skip that wait at once.
public func unusedNode() -> String {
    "/dev/video\(lastNode.wrappingAdd(1, ordering: .relaxed).newValue)"
}
