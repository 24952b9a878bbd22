import LinuxIO
import Media
import StreamQuality
import Synchronization

/// Connects the encoders to a stream's sinks. Each sink gets the same packets in the same order; payloads are shared.
///
/// An epoch lasts as long as one start of a stream on a server can carry it: another profile, size or sample rate starts the
/// next epoch. Encoders name the epoch that they were made for, and late packets of an earlier epoch are dropped. All sinks
/// must follow a new header within an epoch.
///
/// Any thread. Sinks receive packets under the hub's lock, so that all see the tracks in one order. They are woken without it.
public final class PacketHub: Sendable {
    /// An encoder that has gone through no `epochStarts` is of this epoch.
    public static let firstEpoch = 0

    private let requestKeyframe: @Sendable () -> Void
    private let state: Mutex<State>

    fileprivate struct Track {
        /// Packets of earlier encoders are dropped.
        var oldestEpoch = PacketHub.firstEpoch
        var header: EncodedPacket?
        var newestTime: MediaTimestamp?
    }

    fileprivate struct Seat {
        let sink: any PacketSink
        var isLeading: Bool
    }

    fileprivate struct State {
        /// Media is ignored before it is set, and media from before it too.
        var start: MediaTimestamp?
        /// When the first server accepted the stream.
        var publishStart: MediaTimestamp?
        var epoch = PacketHub.firstEpoch
        var video = Track()
        var audio = Track()
        /// Tracks that still append.
        var openTracks: Int
        var seats: [Seat] = []
        var keyframes = KeyframeRequests()
        var refusedFrameCount = 0
    }

    /// Work to do after the lock is released.
    fileprivate struct Wakeups {
        var seats: [Seat] = []
        /// By the seat's index. Most packets cause none.
        var events: [Int: [SendBufferEvent]] = [:]
        var needsKeyframe = false
    }

    /// - Parameters:
    ///   - tracks: the tracks that `trackEnded` will be called for.
    ///   - requestKeyframe: asks the encoder for one. Called at once, on the thread that notices that a sink needs it.
    public init(tracks: Int, requestKeyframe: @escaping @Sendable () -> Void = {}) {
        self.requestKeyframe = requestKeyframe
        state = Mutex(State(openTracks: tracks))
    }

    /// Accepts media from here on. Media captured before that time is not part of the stream.
    /// - Parameter time: the start of a sink. The first one counts.
    public func mediaStarted(at time: MediaTimestamp) { state.withLock { $0.start = $0.start ?? time } }

    /// When the stream's media starts; `nil` before it.
    public var start: MediaTimestamp? { state.withLock { $0.start } }

    /// A server accepts media from here on. It may start earlier, for a recording.
    /// - Parameter time: the start of a target. The first one counts.
    /// - Returns: RTMP's time zero.
    public func publishingStarted(at time: MediaTimestamp) -> MediaTimestamp {
        state.withLock { state in
            let zero = state.publishStart ?? time
            state.publishStart = zero
            state.start = state.start ?? zero
            return zero
        }
    }

    /// RTMP's time zero; `nil` before it.
    public var publishStart: MediaTimestamp? { state.withLock { $0.publishStart } }

    // MARK: Packets

    /// - Parameters:
    ///   - packets: packets of one track.
    ///   - epoch: the epoch that their encoder was made for.
    public func append(_ packets: [EncodedPacket], epoch: Int = firstEpoch) {
        guard let first = packets.first else { return }
        let isVideo = first.isVideo
        let now = MonotonicClock.now()
        let wakeups = state.withLock { state in
            guard epoch >= state.oldestEpoch(isVideo: isVideo) else { return state.refuse(packets) }
            state.keepHeaders(packets)
            guard let start = state.start else { return state.refuse(packets) }
            guard packets.allSatisfy({ $0.isHeader || $0.decodeTime >= start }) else {
                let taken = packets.filter { $0.isHeader || $0.decodeTime >= start }
                _ = state.refuse(packets.filter { !$0.isHeader && $0.decodeTime < start })
                return state.pass(taken, isVideo: isVideo, now: now)
            }
            return state.pass(packets, isVideo: isVideo, now: now)
        }
        perform(wakeups)
    }

    /// One track's last packet was appended.
    public func trackEnded() {
        let seats = state.withLock { state in
            state.openTracks -= 1
            if state.openTracks <= 0 { for seat in state.seats { seat.sink.mediaEnded() } }
            return state.seats
        }
        for seat in seats { seat.sink.wake([]) }
    }

    private func perform(_ wakeups: Wakeups) {
        for (index, seat) in wakeups.seats.enumerated() { seat.sink.wake(wakeups.events[index] ?? []) }
        if wakeups.needsKeyframe { requestKeyframe() }
    }

    // MARK: Epochs

    /// The stream ends here, to start again with new headers.
    /// - Parameters:
    ///   - replacesVideo: accept frames again only from an encoder of the new epoch.
    ///   - replacesAudio: like `replacesVideo`, for audio packets.
    /// - Returns: the new epoch's number.
    public func epochStarts(replacesVideo: Bool, replacesAudio: Bool) -> Int {
        state.withLock { state in
            state.epoch += 1
            if replacesVideo {
                state.video.oldestEpoch = state.epoch
                state.video.header = nil
            }
            if replacesAudio {
                state.audio.oldestEpoch = state.epoch
                state.audio.header = nil
            }
            for seat in state.seats { seat.sink.epochStarted() }
            return state.epoch
        }
    }

    /// The sequence headers for the packets to come.
    public var headers: [EncodedPacket] { state.withLock { $0.headers } }

    /// Frames from before the stream's start or from a replaced encoder; no sink received them.
    public var refusedFrameCount: Int { state.withLock { $0.refusedFrameCount } }

    // MARK: Sinks

    /// From here on, the sink gets every packet, after the headers that decode them.
    /// - Parameter isLeading: whether the quality follows this sink, and its requests for keyframes come first.
    public func add(_ sink: any PacketSink, isLeading: Bool = false) {
        let events = state.withLock { state in
            state.seats.append(Seat(sink: sink, isLeading: isLeading))
            if state.openTracks <= 0 { sink.mediaEnded() }
            return sink.append(state.datedHeaders, now: MonotonicClock.now())
        }
        sink.wake(events)
    }

    public func remove(_ sink: any PacketSink) {
        state.withLock { state in state.seats.removeAll { $0.sink === sink } }
    }

    /// Whether the quality follows this sink from now on.
    public func setLeading(_ isLeading: Bool, _ sink: any PacketSink) {
        state.withLock { state in
            for index in state.seats.indices where state.seats[index].sink === sink {
                state.seats[index].isLeading = isLeading
            }
        }
    }

    /// A sink asks for a keyframe outside `append`.
    public func keyframeNeeded(by sink: any PacketSink) {
        let now = MonotonicClock.now()
        let isDue = state.withLock { state in
            let isLeading = state.seats.contains { $0.isLeading && $0.sink === sink }
            return state.keyframes.requested(isLeading: isLeading, now: now)
        }
        if isDue { requestKeyframe() }
    }

    /// A target's connection was opened, or a preview restarts: send headers first, then a keyframe.
    public func restart(_ sink: any PacketSink) {
        let now = MonotonicClock.now()
        let wakeups = state.withLock { state in
            var wakeups = Wakeups()
            let events = sink.restart(headers: state.datedHeaders, now: now)
            guard let seat = state.seats.first(where: { $0.sink === sink }) else { return wakeups }
            wakeups.seats = [seat]
            wakeups.events[0] = events
            wakeups.needsKeyframe =
                events.contains(.keyframeNeeded) && state.keyframes.requested(isLeading: seat.isLeading, now: now)
            return wakeups
        }
        perform(wakeups)
    }
}

extension PacketHub.State {
    fileprivate func oldestEpoch(isVideo: Bool) -> Int { isVideo ? video.oldestEpoch : audio.oldestEpoch }

    fileprivate var headers: [EncodedPacket] { [video.header, audio.header].compactMap { $0 } }

    /// The headers with a present timestamp, because the stream has continued since their encoders started. No packet to come
    /// is older than its track's newest one, so the older of these two is used: a server that counts from the first header
    /// misses nothing. It is never before the stream's start.
    fileprivate var datedHeaders: [EncodedPacket] {
        let times = [video, audio].compactMap { track in track.header.map { track.newestTime ?? $0.decodeTime } }
        guard let oldest = times.min() else { return [] }
        return headers.map { header in
            var header = header
            header.decodeTime = max(oldest, start ?? oldest)
            return header
        }
    }

    fileprivate mutating func keepHeaders(_ packets: [EncodedPacket]) {
        for packet in packets where packet.isHeader {
            if packet.isVideo { video.header = packet } else { audio.header = packet }
        }
    }

    /// - Returns: no wakeups.
    fileprivate mutating func refuse(_ packets: [EncodedPacket]) -> PacketHub.Wakeups {
        refusedFrameCount += packets.count { $0.isVideo && !$0.isHeader }
        return PacketHub.Wakeups()
    }

    fileprivate mutating func pass(
        _ packets: [EncodedPacket], isVideo: Bool, now: MediaTimestamp
    ) -> PacketHub.Wakeups {
        for packet in packets where !packet.isHeader {
            if isVideo { video.newestTime = packet.decodeTime } else { audio.newestTime = packet.decodeTime }
            if packet.kind == .video(isKeyframe: true) { keyframes.keyframeCame(now: now) }
        }
        var wakeups = PacketHub.Wakeups(seats: seats)
        for (index, seat) in seats.enumerated() {
            let events = seat.sink.append(packets, now: now)
            guard !events.isEmpty else { continue }
            wakeups.events[index] = events
            if events.contains(.keyframeNeeded), keyframes.requested(isLeading: seat.isLeading, now: now) {
                wakeups.needsKeyframe = true
            }
        }
        if keyframes.isDue(now: now) { wakeups.needsKeyframe = true }
        return wakeups
    }
}
