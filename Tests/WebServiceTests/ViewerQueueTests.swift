import Bitstream
import Media
import Testing

@testable import WebService

@Suite struct ViewerQueueTests {
    private let start = MediaTimestamp(milliseconds: 10_000)

    private func initialization(level: UInt8) -> MP4LiveFragments.Start {
        var fragments = MP4LiveFragments()
        let pieces = fragments.append([
            PreviewScript.videoHeader(level: level), PreviewScript.frame(0, isKeyframe: true),
        ])
        guard case .start(let start)? = pieces.first else { fatalError("headers of the script are good") }
        return start
    }

    private func fragment(isKeyframe: Bool = false, byteCount: Int = 1000) -> ViewerMessage {
        .fragment([UInt8](repeating: 0, count: byteCount), isKeyframe: isKeyframe)
    }

    /// - Parameter script: S with a level's code, K, f, E.
    private func append(_ script: String, to queue: inout ViewerQueue, at milliseconds: Int64 = 0) {
        let now = start + .milliseconds(milliseconds)
        for symbol in script.split(separator: " ") {
            switch symbol {
            case "S1e": queue.append(.start(initialization(level: 30)), now: now)
            case "S1f": queue.append(.start(initialization(level: 31)), now: now)
            case "K": queue.append(fragment(isKeyframe: true), now: now)
            case "E": queue.append(.ended, now: now)
            default: queue.append(fragment(), now: now)
            }
        }
    }

    private func taken(_ queue: inout ViewerQueue, atMost limit: Int = .max) -> String {
        var messages: [ViewerMessage] = []
        while messages.count < limit, let message = queue.take() { messages.append(message) }
        return messages.symbols
    }

    @Test func firstViewerGetsEverything() {
        var queue = ViewerQueue(joining: nil)
        append("S1e K f f S1f K f E S1e K", to: &queue)
        // Fragments that wait at the end of a stream are not sent any more.
        #expect(taken(&queue) == "E S1e K")
        append("f f", to: &queue)
        #expect(taken(&queue) == "f f" && queue.isEmpty && queue.byteCount == 0)
        #expect(queue.droppedCount == 0 && !queue.wantsKeyframe)
    }

    @Test func laterViewerStartsAtAKeyframe() {
        var queue = ViewerQueue(joining: initialization(level: 30))
        #expect(queue.wantsKeyframe)
        append("f f", to: &queue)
        #expect(queue.isEmpty && queue.wantsKeyframe)
        append("K f", to: &queue)
        #expect(!queue.wantsKeyframe && queue.droppedCount == 0)
        #expect(taken(&queue) == "S1e K f")
    }

    @Test func laterViewerGetsTheStartOfAnEpochThatPassed() {
        var queue = ViewerQueue(joining: initialization(level: 30))
        append("f S1f K", to: &queue)
        #expect(taken(&queue) == "S1f K")
    }

    @Test func viewerWithoutAStreamWantsNothing() {
        var queue = ViewerQueue(joining: nil)
        #expect(!queue.wantsKeyframe)
        append("f", to: &queue)
        #expect(queue.isEmpty && !queue.wantsKeyframe && queue.droppedCount == 0)
    }

    @Test func slowViewerLosesFragmentsUpToTheNextKeyframe() {
        var queue = ViewerQueue(joining: nil, byteLimit: 4500)
        append("S1e K f f", to: &queue)
        #expect(taken(&queue, atMost: 2) == "S1e K")
        append("f f", to: &queue)
        #expect(queue.byteCount == 4000 && queue.droppedCount == 0)
        append("f", to: &queue)
        #expect(queue.isEmpty && queue.droppedCount == 5 && queue.wantsKeyframe)
        append("f K f", to: &queue)
        #expect(queue.droppedCount == 6 && !queue.wantsKeyframe)
        #expect(taken(&queue) == "K f")
    }

    @Test func slowViewerGetsTheStartThatItLacks() {
        var queue = ViewerQueue(joining: nil, byteLimit: 3500)
        append("S1e K f", to: &queue)
        #expect(taken(&queue) == "S1e K f")
        append("f S1f K f f", to: &queue)
        #expect(queue.isEmpty && queue.droppedCount == 4)
        append("K", to: &queue)
        #expect(taken(&queue) == "S1f K")
    }

    @Test func keyframeThatDoesNotFitReplacesWhatWaits() {
        var queue = ViewerQueue(joining: nil, byteLimit: 3500)
        append("S1e K f f K", to: &queue)
        #expect(taken(&queue) == "S1e K" && queue.droppedCount == 3 && !queue.wantsKeyframe)
    }

    @Test func viewerThatTakesNothingForASecondIsTooSlow() {
        var queue = ViewerQueue(joining: nil)
        append("S1e K", to: &queue)
        append("f", to: &queue, at: 1000)
        #expect(queue.droppedCount == 0)
        append("f", to: &queue, at: 1001)
        #expect(queue.isEmpty && queue.droppedCount == 3)
    }

    @Test func fragmentBeyondTheLimitIsTakenAlone() {
        var queue = ViewerQueue(joining: initialization(level: 30), byteLimit: 3500)
        queue.append(fragment(isKeyframe: true, byteCount: 10_000), now: start)
        #expect(taken(&queue) == "S1e K")
    }

    @Test func pausedViewerGetsNothingAndStartsAfterwards() {
        var queue = ViewerQueue(joining: nil)
        append("S1e K f", to: &queue)
        queue.setPaused(true)
        #expect(queue.isEmpty && !queue.wantsKeyframe)
        append("f S1f K f", to: &queue)
        #expect(queue.isEmpty && !queue.wantsKeyframe && queue.droppedCount == 0)
        queue.setPaused(false)
        #expect(queue.wantsKeyframe)
        append("f K", to: &queue)
        #expect(taken(&queue) == "S1f K" && queue.droppedCount == 0)
    }

    @Test func streamThatEndsInAPauseIsTold() {
        var queue = ViewerQueue(joining: initialization(level: 30))
        queue.setPaused(true)
        append("E", to: &queue)
        #expect(taken(&queue) == "E")
        queue.setPaused(false)
        #expect(!queue.wantsKeyframe)
    }

    @Test func queueIsBoundedWhateverComes() {
        var queue = ViewerQueue(joining: nil)
        for round in 0..<200 {
            append("S1e K f f E S1f K f", to: &queue, at: Int64(round))
            #expect(queue.byteCount <= 1 << 20)
        }
        // A start, a keyframe and a frame, after the last end.
        #expect(taken(&queue) == "E S1f K f")
    }
}
