import Bitstream
import DevicePorts
import LinuxIO
import Media
import StreamQuality
import Synchronization

/// Passes the packets of a stream's video encoders to the hub, from one encoder at a time, starting at a keyframe. Any thread.
/// Packets are passed on under the lock, so that those of two encoders cannot mix.
public final class VideoOutput: Sendable {
    fileprivate struct State {
        /// The epoch that the present encoders were made for.
        var epoch = PacketHub.firstEpoch
        var madeCount = 0
        /// The encoder whose packets pass.
        var heard: Int?
        /// The encoder that takes over at its first keyframe.
        var successor: Int?
        /// Frames up to this one came from another encoder.
        var start: MediaTimestamp?
        var awaitsKeyframe = true
        /// Frames that arrived from the encoder in use before its keyframe.
        var awaitedCount = 0
        /// The latest header of each encoder whose packets do not pass yet.
        var headers: [Int: EncodedPacket] = [:]
        var lastHeader: [UInt8]?
        /// Precedes keyframes once the header is no longer the stream's first. This lets programs that keep only the first header,
        /// such as a remuxer to MP4, decode them.
        var setsInFront: [UInt8]?
        var lastDecodeTime: MediaTimestamp?
        /// Reported with the first frame that was captured then or later.
        var awaitedCamera: AwaitedCamera?
    }

    fileprivate struct AwaitedCamera {
        let name: String
        let start: MediaTimestamp
        let wished: MediaTimestamp
    }

    private let hub: PacketHub
    private let counters: SharedCounters
    private let timecode: FrameTimecode?
    private let report: @Sendable (EncoderEvent) -> Void
    private let state = Mutex(State())

    /// After this many frames, request the keyframe again: a driver may have applied the request to a frame that was already
    /// inside.
    private static let awaitedLimit = 4

    /// - Parameter timecode: writes the time of day into each frame; `nil` for none.
    package init(
        hub: PacketHub, counters: SharedCounters, timecode: FrameTimecode? = nil,
        report: @escaping @Sendable (EncoderEvent) -> Void
    ) {
        self.hub = hub
        self.counters = counters
        self.timecode = timecode
        self.report = report
    }

    /// Frames from `start` on belong to this camera. Reports the first one that comes out.
    /// - Parameter wished: time of the request.
    package func cameraChanged(to name: String, at start: MediaTimestamp, wished: MediaTimestamp) {
        state.withLock { $0.awaitedCamera = AwaitedCamera(name: name, start: start, wished: wished) }
    }

    /// An encoder's place here.
    package struct Source: Sendable {
        fileprivate let number: Int
        /// The arguments of the encoder's initializer.
        let output: EncodedOutput
    }

    /// A place for a new encoder; `listen` lets its packets pass.
    /// - Parameter colors: its frames' colors, for its headers, because encoders guess them or omit them.
    func makeSource(of colors: VideoColors? = nil) -> Source {
        let number = state.withLock { state in
            state.madeCount += 1
            return state.madeCount
        }
        return Source(number: number) { [self] packets in
            var packets = colors.map { packets.showing($0) } ?? packets
            if let timecode { for index in packets.indices { timecode.stamp(&packets[index]) } }
            append(packets, from: number)
        }
    }

    /// From its next keyframe on, only this encoder's packets pass.
    /// - Parameter time: frames up to then came from another encoder.
    func listen(to source: Source, after time: MediaTimestamp? = nil) {
        state.withLock { state in
            state.heard = source.number
            state.successor = nil
            state.start = time
            state.awaitsKeyframe = true
            state.awaitedCount = 0
            state.headers = state.headers.filter { $0.key == source.number }
        }
    }

    /// It takes over at its first keyframe. Later frames of the present encoder are dropped.
    func takeOver(by source: Source) { state.withLock { $0.successor = source.number } }

    /// From here on, none of this encoder's packets pass.
    func ignore(_ source: Source) {
        state.withLock { state in
            if state.heard == source.number { state.heard = nil }
            if state.successor == source.number { state.successor = nil }
            state.headers[source.number] = nil
        }
    }

    /// The stream ends and restarts: the next header counts, even if it is the same.
    /// - Parameter epoch: the epoch of the next encoder; `nil` to keep the present one.
    package func streamRestarts(epoch: Int?) {
        state.withLock { state in
            state.epoch = epoch ?? state.epoch
            state.lastHeader = nil
            state.setsInFront = nil
        }
    }

    /// Whether to ask the encoder in use for its first keyframe again; true once.
    func takeKeyframeWish() -> Bool {
        state.withLock { state in
            guard state.awaitsKeyframe, state.awaitedCount >= Self.awaitedLimit else { return false }
            state.awaitedCount = 0
            return true
        }
    }

    private func append(_ given: [EncodedPacket], from number: Int) {
        state.withLock { state in
            let packets = given.flatMap { state.pass($0, from: number) }
            guard !packets.isEmpty else { return }
            counters.update { counters in
                for packet in packets where !packet.kind.isHeader {
                    counters.encodedFrames += 1
                    counters.encodedVideoBytes += packet.payload.count
                }
            }
            state.takeAwaitedCamera(in: packets).map(report)
            hub.append(packets, epoch: state.epoch)
        }
    }
}

extension VideoOutput.State {
    /// - Parameter packets: the packets to pass on.
    fileprivate mutating func takeAwaitedCamera(in packets: [EncodedPacket]) -> EncoderEvent? {
        guard let camera = awaitedCamera,
            packets.contains(where: { !$0.kind.isHeader && $0.decodeTime >= camera.start })
        else { return nil }
        awaitedCamera = nil
        return .cameraSwitched(to: camera.name, after: MonotonicClock.now() - camera.wished)
    }

    /// - Returns: the packets for the hub: none, this packet, or a header and this packet.
    fileprivate mutating func pass(_ packet: EncodedPacket, from number: Int) -> [EncodedPacket] {
        guard case .video(let isKeyframe) = packet.kind else {
            headers[number] = packet
            return number == heard && !awaitsKeyframe ? takeHeader(of: number) : []
        }
        if number == successor, isKeyframe {
            (heard, successor, start, awaitsKeyframe) = (number, nil, nil, true)
        }
        guard number == heard else { return [] }
        if let start, packet.decodeTime <= start { return [] }
        guard !awaitsKeyframe || isKeyframe else {
            awaitedCount += 1
            return []
        }
        let header = awaitsKeyframe ? takeHeader(of: number) : []
        awaitsKeyframe = false
        return header + [spread(isKeyframe ? withSetsInFront(packet) : packet)]
    }

    private func withSetsInFront(_ packet: EncodedPacket) -> EncodedPacket {
        guard let setsInFront else { return packet }
        var packet = packet
        packet.payload.insert(contentsOf: setsInFront, at: 0)
        return packet
    }

    /// Another encoder's headers are often the same.
    private mutating func takeHeader(of number: Int) -> [EncodedPacket] {
        guard let header = headers.removeValue(forKey: number), header.payload != lastHeader else { return [] }
        if lastHeader != nil {
            setsInFront = (try? AVCDecoderConfigurationRecord(parsing: header.payload))?.lengthPrefixedSets
        }
        lastHeader = header.payload
        return [header]
    }

    /// RTMP counts whole milliseconds from an arbitrary zero. Frames from a pipe can be closer together, so they are moved a
    /// millisecond apart: no two frames may share a timestamp.
    private mutating func spread(_ packet: EncodedPacket) -> EncodedPacket {
        var packet = packet
        if let lastDecodeTime { packet.decodeTime = max(packet.decodeTime, lastDecodeTime + .milliseconds(1)) }
        lastDecodeTime = packet.decodeTime
        return packet
    }
}

extension [EncodedPacket] {
    /// Sets the colors in the headers.
    fileprivate func showing(_ colors: VideoColors) -> [EncodedPacket] {
        map { packet in
            guard packet.kind == .videoHeader, let record = try? AVCDecoderConfigurationRecord(parsing: packet.payload)
            else { return packet }
            var packet = packet
            packet.payload = record.with(colors).bytes
            return packet
        }
    }
}
