import LinuxIO
import Media
import StreamLogic
import StreamQuality
import Synchronization

/// The send buffer between the threads `video`, `encoder` and `audio`, which append, and the thread `network` of the
/// present connection, which takes.
public final class SharedSendBuffer: Sendable {
    /// Signalled when there is something to take, or when the last packet was appended.
    public let wakeup: EventFD
    private let hasVideo: Bool
    /// Called at once, on the thread whose packet needs it.
    private let requestKeyframe: @Sendable () -> Void
    private let state: Mutex<State>

    private struct State {
        var buffer: SendBuffer
        /// The stream's time zero; nothing is taken in before it is set.
        var start: MediaTimestamp?
        /// Tracks that still append.
        var openTracks: Int
        /// Between the end of a stream and its next start nothing is taken in but headers.
        var isPaused = false
        /// How often the stream has ended so.
        var pauseCount = 0
        /// Packets of encoders before the one that the pause with this number asked for are not for the new stream.
        var awaitedVideoEncoder: Int?
        /// As `awaitedVideoEncoder`, of audio.
        var awaitedAudioEncoder: Int?
        /// Frames that came while none was taken in.
        var refusedFrameCount = 0
        /// The latest of each track.
        var headers: [EncodedPacket.Kind: EncodedPacket] = [:]

        /// - Returns: nothing that anybody has to know.
        mutating func refuse(_ packets: [EncodedPacket]) -> [SendBufferEvent] {
            refusedFrameCount += packets.count { $0.kind.isVideo && !$0.kind.isHeader }
            return []
        }
    }

    /// - Parameter requestKeyframe: the buffer needs one to go on. Any thread.
    public init(
        limits: SendBufferLimits, tracks: Int, hasVideo: Bool, requestKeyframe: @escaping @Sendable () -> Void = {}
    ) throws {
        self.hasVideo = hasVideo
        self.requestKeyframe = requestKeyframe
        wakeup = try EventFD()
        state = Mutex(State(buffer: SendBuffer(limits: limits), openTracks: tracks))
    }

    /// From here on media is taken in; what was captured before `time` is not part of the stream.
    public func mediaStarted(at time: MediaTimestamp) { state.withLock { $0.start = time } }

    public func append(_ packets: [EncodedPacket]) -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        let events: [SendBufferEvent] = state.withLock { state in
            if let first = packets.first,
                (first.kind.isVideo ? state.awaitedVideoEncoder : state.awaitedAudioEncoder) != nil
            {
                return state.refuse(packets)
            }
            for packet in packets where packet.kind.isHeader {
                state.headers[packet.kind] = packet
                if state.isPaused { state.buffer.headerReplaced(packet) }
            }
            guard let start = state.start, !state.isPaused else { return state.refuse(packets) }
            return packets.flatMap { packet in
                packet.kind.isHeader || packet.decodeTime >= start
                    ? state.buffer.append(packet, now: now) : state.refuse([packet])
            }
        }
        wakeup.signal()
        return reported(events)
    }

    private func reported(_ events: [SendBufferEvent]) -> [SendBufferEvent] {
        if events.contains(.keyframeNeeded) { requestKeyframe() }
        return events
    }

    /// One track's last packet was appended.
    public func trackEnded() {
        state.withLock { $0.openTracks -= 1 }
        wakeup.signal()
    }

    public func take() -> EncodedPacket? { state.withLock { $0.buffer.takeNext() } }

    /// The sequence headers that decode what comes next.
    public var headers: [EncodedPacket] { state.withLock { Array($0.headers.values) } }

    /// Whether a player can start with the next packet: with a keyframe, or with any audio where there is no video.
    public var isStartingNext: Bool {
        state.withLock { hasVideo ? $0.buffer.isKeyframeNext : $0.buffer.waitingByteCount > 0 }
    }

    /// Frames that came before the stream started, or between its end and its next start: nobody gets them.
    public var refusedFrameCount: Int { state.withLock { $0.refusedFrameCount } }

    /// Frames that nobody has taken yet.
    public var waitingFrameCount: Int { state.withLock { $0.buffer.waitingFrameCount } }

    /// Whether everything was appended and taken.
    public var isFinished: Bool { state.withLock { $0.openTracks <= 0 && $0.buffer.waitingByteCount == 0 } }

    /// Whether everything of this stream was taken.
    public var isDrained: Bool {
        state.withLock { ($0.openTracks <= 0 || $0.isPaused) && $0.buffer.waitingByteCount == 0 }
    }

    /// The stream ends here, to start again on the next connection.
    /// - Parameters:
    ///   - replacesVideoEncoder: frames count again after `videoEncoderReplaced`.
    ///   - replacesAudioEncoder: audio packets count again after `audioEncoderReplaced`.
    /// - Returns: the number by which the encoders that replace them are reported.
    public func paused(replacesVideoEncoder: Bool, replacesAudioEncoder: Bool) -> Int {
        state.withLock { state in
            state.isPaused = true
            state.pauseCount += 1
            if replacesVideoEncoder {
                state.awaitedVideoEncoder = state.pauseCount
                state.headers[.videoHeader] = nil
                state.buffer.videoHeaderExpired()
            }
            if replacesAudioEncoder {
                state.awaitedAudioEncoder = state.pauseCount
                state.headers[.audioHeader] = nil
                state.buffer.audioHeaderExpired()
            }
            return state.pauseCount
        }
    }

    /// Audio packets that are appended from now on are another encoder's.
    /// - Parameter pause: asked for it. One that took its time while a later pause asked for another is not awaited.
    func audioEncoderReplaced(of pause: Int) {
        state.withLock { if $0.awaitedAudioEncoder == pause { $0.awaitedAudioEncoder = nil } }
    }

    /// Frames that are appended from now on are another encoder's.
    /// - Parameter pause: as for `audioEncoderReplaced`; `nil` when the stream goes on without one.
    func videoEncoderReplaced(of pause: Int?) {
        state.withLock { if $0.awaitedVideoEncoder == pause { $0.awaitedVideoEncoder = nil } }
    }

    /// What the quality controller learns.
    public func measurement(_ counters: PublishCounters, now: MediaTimestamp) -> StreamMeasurement {
        state.withLock {
            StreamMeasurement(
                now: now, buffer: $0.buffer, encodedVideoBytes: counters.encodedVideoBytes,
                encodedFrames: counters.encodedFrames, skippedFrames: counters.skippedFrames)
        }
    }

    /// Bytes that may be under way; more waits here.
    public func limitFlight(to byteCount: Int) { state.withLock { $0.buffer.flightLimit = byteCount } }

    public func discardWaitingVideo() -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return reported(state.withLock { $0.buffer.discardWaitingVideo(now: now) })
    }

    /// Media waiting here and in the kernel's queue.
    public var duration: Duration { state.withLock { $0.buffer.duration } }

    /// Bytes that reached the receiver, and whether there are more on their way or waiting.
    public var delivery: (byteCount: Int, isComplete: Bool) {
        state.withLock { ($0.buffer.deliveredByteCount, $0.buffer.undeliveredByteCount == 0) }
    }

    /// A new connection takes over after a loss: headers go first, then a keyframe.
    public func connectionOpened() -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return reported(
            state.withLock { state in
                state.isPaused = false
                return state.buffer.connectionOpened(now: now)
            })
    }

    public func kernelQueueMeasured(unsentBytes: Int, unacknowledgedBytes: Int) -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return reported(
            state.withLock {
                $0.buffer.kernelQueueMeasured(
                    unsentBytes: unsentBytes, unacknowledgedBytes: unacknowledgedBytes, now: now)
            })
    }
}
