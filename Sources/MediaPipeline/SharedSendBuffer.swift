import LinuxIO
import Media
import StreamLogic
import StreamQuality
import Synchronization

/// The send buffer between the encoder and audio threads, which append, and the
/// thread of the present connection, which takes.
public final class MediaQueue: Sendable {
    /// Signalled when there is something to take, or when the last packet was appended.
    public let wakeup: EventFD
    private let hasVideo: Bool
    /// Told on the thread that finds it out: nothing else is to be waited for.
    private let requestKeyFrame: @Sendable () -> Void
    private let state: Mutex<State>

    private struct State {
        var buffer: SendBuffer
        /// The stream's time zero; nothing is taken in before it is set.
        var begin: MediaTimestamp?
        /// Tracks that still append.
        var openTracks: Int
        /// Between the end of a stream and its next begin nothing is taken in but headers.
        var isPaused = false
        /// How often the stream has ended so.
        var pauseCount = 0
        /// Pictures of encoders before the one that the pause with this number asked for are not for the new stream.
        var awaitedVideoEncoder: Int?
        /// As `awaitedVideoEncoder`, of sound.
        var awaitedAudioEncoder: Int?
        /// Pictures that were not taken in, as none is just then.
        var refusedPictureCount = 0
        /// The latest of each track.
        var headers: [EncodedPacket.Kind: EncodedPacket] = [:]

        /// - Returns: nothing that anybody has to know.
        mutating func refuse(_ packets: [EncodedPacket]) -> [SendBufferEvent] {
            refusedPictureCount += packets.count { $0.kind.isVideo && !$0.kind.isHeader }
            return []
        }
    }

    /// - Parameter requestKeyFrame: the buffer needs one to go on. Any thread.
    public init(
        limits: SendBufferLimits, tracks: Int, hasVideo: Bool, requestKeyFrame: @escaping @Sendable () -> Void = {}
    ) throws {
        self.hasVideo = hasVideo
        self.requestKeyFrame = requestKeyFrame
        wakeup = try EventFD()
        state = Mutex(State(buffer: SendBuffer(limits: limits), openTracks: tracks))
    }

    /// From here on media is taken in; what was captured before `time` is not part of the stream.
    public func mediaBegan(at time: MediaTimestamp) { state.withLock { $0.begin = time } }

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
            guard let begin = state.begin, !state.isPaused else { return state.refuse(packets) }
            return packets.flatMap { packet in
                packet.kind.isHeader || packet.decodeTime >= begin
                    ? state.buffer.append(packet, now: now) : state.refuse([packet])
            }
        }
        wakeup.signal()
        return told(events)
    }

    private func told(_ events: [SendBufferEvent]) -> [SendBufferEvent] {
        if events.contains(.keyFrameNeeded) { requestKeyFrame() }
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

    /// Whether a player can begin with the next packet: with a key frame, or with any sound where there is no picture.
    public var isBeginningNext: Bool {
        state.withLock { hasVideo ? $0.buffer.isKeyFrameNext : $0.buffer.waitingByteCount > 0 }
    }

    /// Pictures that came before the stream began, or between its end and its next begin: nobody gets them.
    public var refusedPictureCount: Int { state.withLock { $0.refusedPictureCount } }

    /// Pictures that nobody has taken yet.
    public var waitingPictureCount: Int { state.withLock { $0.buffer.waitingPictureCount } }

    /// Whether everything was appended and taken.
    public var isFinished: Bool { state.withLock { $0.openTracks <= 0 && $0.buffer.waitingByteCount == 0 } }

    /// Whether everything of this stream was taken.
    public var isDrained: Bool {
        state.withLock { ($0.openTracks <= 0 || $0.isPaused) && $0.buffer.waitingByteCount == 0 }
    }

    /// The stream ends here, to begin again on the next connection.
    /// - Parameters:
    ///   - replacesVideoEncoder: pictures count again after `videoEncoderReplaced`.
    ///   - replacesAudioEncoder: sounds count again after `audioEncoderReplaced`.
    /// - Returns: the number by which the encoders that replace them are told.
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

    /// What the audio thread appends from now on is another encoder's.
    /// - Parameter pause: asked for it. One that took its time while a later pause asked for another is not awaited.
    func audioEncoderReplaced(of pause: Int) {
        state.withLock { if $0.awaitedAudioEncoder == pause { $0.awaitedAudioEncoder = nil } }
    }

    /// What the video thread appends from now on is another encoder's.
    /// - Parameter pause: as for `audioEncoderReplaced`; `nil` when the stream goes on without one.
    func videoEncoderReplaced(of pause: Int?) {
        state.withLock { if $0.awaitedVideoEncoder == pause { $0.awaitedVideoEncoder = nil } }
    }

    /// What the quality controller is told.
    public func measurement(_ counters: PublishCounters, now: MediaTimestamp) -> StreamMeasurement {
        state.withLock {
            StreamMeasurement(
                now: now, buffer: $0.buffer, encodedVideoBytes: counters.encodedVideoBytes,
                encodedPictures: counters.encodedFrames, skippedPictures: counters.skippedFrames)
        }
    }

    /// Bytes that may be under way; more waits here.
    public func limitFlight(to byteCount: Int) { state.withLock { $0.buffer.flightLimit = byteCount } }

    public func discardWaitingVideo() -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return told(state.withLock { $0.buffer.discardWaitingVideo(now: now) })
    }

    /// Media waiting here and in the kernel's queue.
    public var duration: Duration { state.withLock { $0.buffer.duration } }

    /// Bytes that reached the receiver, and whether there are more on their way or waiting.
    public var delivery: (byteCount: Int, isComplete: Bool) {
        state.withLock { ($0.buffer.deliveredByteCount, $0.buffer.undeliveredByteCount == 0) }
    }

    /// A new connection takes over after a loss: headers go first, then a key frame.
    public func connectionOpened() -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return told(
            state.withLock { state in
                state.isPaused = false
                return state.buffer.connectionOpened(now: now)
            })
    }

    public func kernelQueueMeasured(unsentBytes: Int, unacknowledgedBytes: Int) -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return told(
            state.withLock {
                $0.buffer.kernelQueueMeasured(
                    unsentBytes: unsentBytes, unacknowledgedBytes: unacknowledgedBytes, now: now)
            })
    }
}
