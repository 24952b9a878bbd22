import FuzzDriver
import Media
import RTMP

@main enum FuzzRTMP {
    static func main() { fuzz(testOneInput) }
}

/// A session's input: the initial state, the portions in which the bytes arrive with the interruptions between them, and the
/// bytes.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let script = Script(UnsafeRawBufferPointer(start: data, count: count)) else { return 0 }
    switch script.start {
    case .publisher(let state):
        let events = PublisherRun(state, script).events
        if script.isOfPortionsAlone {
            precondition(
                events == PublisherRun(state, script.inOnePortion).events, "portions change what is understood")
        }
    case .receiver(let state):
        let run = ReceiverRun(state, script)
        if script.isOfPortionsAlone {
            let other = ReceiverRun(state, script.inOnePortion)
            precondition(
                run.events == other.events && run.metadata == other.metadata, "portions change what is understood")
        }
    }
    return 0
}
