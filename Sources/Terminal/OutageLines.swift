import StreamLogic

/// The lines for people while a server is away and attempts are unlimited: one for each change, then only a counter.
struct OutageLines {
    enum Reading: Hashable {
        case line
        case nothing
        /// Shown instead of the event.
        case counter(String)
    }

    private var failure: String?
    private var isRepeated = false
    private var isEndless = false
    /// How often in a row the attempts have failed with the same text.
    private var count = 0
    /// For the newest attempt, for a view that is redrawn; `nil` while not reconnecting.
    private(set) var counter: String?

    mutating func take(_ event: StreamEvent) -> Reading {
        switch event {
        case .retry(let failure, _):
            isRepeated = isEndless && failure.text == self.failure
            count = isRepeated ? count + 1 : 0
            self.failure = failure.text
            return isRepeated ? .nothing : .line
        case .reconnecting(let attempt, let limit, _):
            isEndless = limit == nil
            counter = isEndless ? "reconnecting: attempt \(attempt)" : nil
            guard isEndless, isRepeated else { return .line }
            return Self.isMilestone(count) ? .counter("still reconnecting: attempt \(attempt)") : .nothing
        case .connected, .publishing, .ended, .failed, .linkDown, .linkUp:
            self = OutageLines()
            return .line
        default: return .line
        }
    }

    /// 10, 20, 50, 100, 200, 500 and so on: rare enough for a file, often enough to show progress.
    private static func isMilestone(_ count: Int) -> Bool {
        var power = count
        while power >= 100, power % 10 == 0 { power /= 10 }
        return [10, 20, 50].contains(power)
    }
}
