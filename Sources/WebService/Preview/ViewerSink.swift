import Bitstream
import Encoding
import LinuxIO
import Media
import StreamQuality
import Synchronization

/// The viewers' place at the hubs of all streams, one after the other. Without viewers it keeps only the latest headers.
///
/// The hub appends on the encoders' threads; one other thread opens, takes and closes. If that thread does not take, a second of
/// packets waits here at most, and the preview goes on at a keyframe.
public final class ViewerSink: PacketSink {
    /// Signaled when there is something to take.
    public let wakeup: EventFD
    private let state = Mutex(State())
    /// Used on the taking thread.
    private let fragments = Mutex(MP4LiveFragments())

    fileprivate struct State {
        /// `nil` without viewers.
        var buffer: SendBuffer?
        var videoHeader: EncodedPacket?
        var audioHeader: EncodedPacket?
        /// To be told before what waits in the buffer.
        var hasEnded = false
        var wantsKeyframe = false
        /// Whether there is something to take since the last wakeup.
        var hasNews = false
    }

    fileprivate struct Taken {
        /// Whether a stream has ended before these packets.
        let isAfterEnd: Bool
        var packets: [EncodedPacket] = []
    }

    public init() throws(SystemCallError) { wakeup = try EventFD() }

    // MARK: In

    public func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        state.withLock { $0.append(packets, now: now) }
    }

    public func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        append(headers, now: now)
    }

    /// New headers follow, and a keyframe.
    public func epochStarted() {}

    public func mediaEnded() { state.withLock { $0.streamEnded() } }

    public func wake(_ events: [SendBufferEvent]) {
        let hasNews = state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
        if hasNews { wakeup.signal() }
    }

    // MARK: Out

    /// The first viewer has come. Messages begin with a keyframe, which is asked for when the next frame comes.
    public func open() {
        fragments.withLock { $0.streamEnded() }
        state.withLock { $0.open() }
    }

    /// The last viewer has gone. Waiting packets are void.
    public func close() {
        state.withLock { $0.close() }
        wakeup.drain()
    }

    /// A viewer needs a keyframe. The hub limits how often an encoder is asked.
    public func requestKeyframe() { state.withLock { $0.wantsKeyframe = true } }

    /// Everything that has come since the last call.
    public func takeAll() -> [ViewerMessage] {
        wakeup.drain()
        let taken = state.withLock { $0.takeAll() }
        return fragments.withLock { fragments in
            if taken.isAfterEnd { fragments.streamEnded() }
            let pieces = fragments.append(taken.packets)
            if fragments.needsKeyframe { requestKeyframe() }
            return (taken.isAfterEnd ? [.ended] : []) + pieces.map(ViewerMessage.init)
        }
    }
}

extension ViewerSink.State {
    fileprivate mutating func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        for packet in packets where packet.isHeader {
            if packet.isVideo { videoHeader = packet } else { audioHeader = packet }
        }
        guard buffer != nil else { return [] }
        for packet in packets {
            let events = buffer?.append(packet, now: now) ?? []
            if events.contains(.keyframeNeeded) { wantsKeyframe = true }
            if packet.kind == .video(isKeyframe: true) { wantsKeyframe = false }
        }
        hasNews = true
        defer { wantsKeyframe = false }
        return wantsKeyframe ? [.keyframeNeeded] : []
    }

    /// Waiting packets are void: the last moment of a stream is not worth a delay.
    fileprivate mutating func streamEnded() {
        if buffer != nil, videoHeader != nil || audioHeader != nil {
            buffer = SendBuffer(.preview)
            hasEnded = true
            hasNews = true
        }
        videoHeader = nil
        audioHeader = nil
    }

    fileprivate mutating func open() {
        guard buffer == nil else { return }
        buffer = SendBuffer(.preview)
        for header in [videoHeader, audioHeader] {
            // A header is not limited in time.
            if let header { _ = buffer?.append(header, now: header.decodeTime) }
        }
    }

    fileprivate mutating func close() {
        buffer = nil
        hasEnded = false
        wantsKeyframe = false
        hasNews = false
    }

    fileprivate mutating func takeAll() -> ViewerSink.Taken {
        defer { hasEnded = false }
        var taken = ViewerSink.Taken(isAfterEnd: hasEnded)
        while let packet = buffer?.takeNext() { taken.packets.append(packet) }
        return taken
    }
}

extension ViewerMessage {
    fileprivate init(_ piece: MP4LiveFragments.Piece) {
        switch piece {
        case .start(let start): self = .start(start)
        case .fragment(let bytes, let isKeyframe): self = .fragment(bytes, isKeyframe: isKeyframe)
        }
    }
}
