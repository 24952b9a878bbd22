import Bitstream
import Media

/// Messages on their way to one of several viewers, limited in bytes and in time. A viewer that is too slow loses fragments up
/// to the next keyframe. If it lacks the present start, it gets that first.
public struct ViewerQueue: Sendable {
    private struct Item {
        let message: ViewerMessage
        /// When it was appended.
        let time: MediaTimestamp
    }

    private let byteLimit: Int
    private let durationLimit: Duration
    private var items: [Item] = []
    private var isAwaitingKeyframe = true
    /// To be sent before the next keyframe.
    private var missingStart: MP4LiveFragments.Start?
    private var latestStart: MP4LiveFragments.Start?
    /// Bytes of the waiting fragments.
    public private(set) var byteCount = 0
    /// Fragments that the viewer should have got, and was too slow for.
    public private(set) var droppedCount = 0
    /// Whether the viewer sees nothing new before the next keyframe.
    public private(set) var wantsKeyframe: Bool
    /// Whether nothing was sent yet that fragments could be missing from.
    private var isJoining = true
    /// Whether the viewer does not look: it gets nothing, and starts at a keyframe afterwards.
    public private(set) var isPaused = false

    /// - Parameters:
    ///   - start: the latest start, for a viewer that joins others; `nil` if no stream has started.
    ///   - byteLimit: of the waiting fragments. One that is larger than that is taken alone.
    ///   - durationLimit: the age of the oldest waiting message at which its viewer is too slow.
    public init(
        joining start: MP4LiveFragments.Start?, byteLimit: Int = 1 << 20, durationLimit: Duration = .seconds(1)
    ) {
        latestStart = start
        missingStart = start
        wantsKeyframe = start != nil
        self.byteLimit = byteLimit
        self.durationLimit = durationLimit
    }

    public var isEmpty: Bool { items.isEmpty }

    // MARK: In

    public mutating func append(_ message: ViewerMessage, now: MediaTimestamp) {
        switch message {
        case .start(let start):
            latestStart = start
            missingStart = start
            isAwaitingKeyframe = true
        case .fragment(let bytes, let isKeyframe):
            if !isPaused { append(message, byteCount: bytes.count, isKeyframe: isKeyframe, now) }
        case .ended:
            // The last moment of a stream is not worth waiting for.
            removeAll()
            awaitKeyframe(after: nil)
            items = [Item(message: .ended, time: now)]
        }
    }

    private mutating func append(
        _ message: ViewerMessage, byteCount count: Int, isKeyframe: Bool, _ now: MediaTimestamp
    ) {
        if isOverfull(count, now) {
            droppedCount += removeAll()
            isAwaitingKeyframe = true
        }
        if isAwaitingKeyframe {
            guard isKeyframe, latestStart != nil else {
                if !isJoining { droppedCount += 1 }
                wantsKeyframe = latestStart != nil
                return
            }
            isAwaitingKeyframe = false
            wantsKeyframe = false
            isJoining = false
            if let start = missingStart { items.append(Item(message: .start(start), time: now)) }
            missingStart = nil
        }
        items.append(Item(message: message, time: now))
        byteCount += count
    }

    private func isOverfull(_ count: Int, _ now: MediaTimestamp) -> Bool {
        guard byteCount > 0, let oldest = items.first else { return false }
        return byteCount + count > byteLimit || now - oldest.time > durationLimit
    }

    /// The viewer's page is hidden, or is seen again.
    public mutating func setPaused(_ isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        removeAll()
        // Its player may be another one afterwards.
        awaitKeyframe(after: latestStart)
        if isPaused { wantsKeyframe = false }
    }

    private mutating func awaitKeyframe(after start: MP4LiveFragments.Start?) {
        latestStart = start
        missingStart = start
        isAwaitingKeyframe = true
        isJoining = true
        wantsKeyframe = start != nil
    }

    /// - Returns: the number of fragments.
    @discardableResult
    private mutating func removeAll() -> Int {
        var count = 0
        for item in items {
            switch item.message {
            case .start: missingStart = latestStart
            case .fragment: count += 1
            case .ended: break
            }
        }
        items.removeAll()
        byteCount = 0
        return count
    }

    // MARK: Out

    /// The next message.
    public mutating func take() -> ViewerMessage? {
        guard !items.isEmpty else { return nil }
        let message = items.removeFirst().message
        if case .fragment(let bytes, _) = message { byteCount -= bytes.count }
        return message
    }
}
