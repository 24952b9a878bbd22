import Bitstream
import DevicePorts
import LinuxIO
import Media
import StreamQuality
import Synchronization

/// Where the packets of a stream's video encoders come together on their way into the hub: one encoder is heard at a time, from
/// a keyframe on. Any thread; packets go on under the lock, so that two encoders' cannot mix.
public final class VideoOutput: Sendable {
    fileprivate struct State {
        /// That the encoders of now were made for.
        var epoch = PacketHub.firstEpoch
        var madeCount = 0
        /// The encoder that is heard.
        var heard: Int?
        /// The one that is heard instead from its first keyframe on.
        var successor: Int?
        /// Frames up to this one were another encoder's.
        var start: MediaTimestamp?
        var awaitsKeyframe = true
        /// Frames of the encoder in use that came while its keyframe was awaited.
        var awaitedCount = 0
        /// The latest header of each encoder that is not heard yet.
        var headers: [Int: EncodedPacket] = [:]
        var lastHeader: [UInt8]?
        /// Precedes keyframes once the header is no longer the stream's first: a program that keeps the first one, as a remuxer
        /// to MP4 does, decodes them all the same.
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
    private let report: @Sendable (EncoderEvent) -> Void
    private let state = Mutex(State())

    /// So many frames after its keyframe was asked for it is asked for again: a driver may have spent it on a frame that
    /// was inside already.
    private static let awaitedLimit = 4

    package init(hub: PacketHub, counters: SharedCounters, report: @escaping @Sendable (EncoderEvent) -> Void) {
        self.hub = hub
        self.counters = counters
        self.report = report
    }

    /// Frames from `start` on are of this camera: the first one that comes out is reported.
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

    /// For an encoder that is made; `listen` lets its packets through.
    /// - Parameter colors: of its frames, for its headers: encoders guess, or say nothing.
    func makeSource(of colors: VideoColors? = nil) -> Source {
        let number = state.withLock { state in
            state.madeCount += 1
            return state.madeCount
        }
        return Source(number: number) { [self] packets in
            append(colors.map { packets.showing($0) } ?? packets, from: number)
        }
    }

    /// From here on only this encoder is heard, from its next keyframe on.
    /// - Parameter time: its frames up to then were another encoder's.
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

    /// Its first keyframe makes it the one that is heard. Until then the present one is; a frame of that which comes later is
    /// left out.
    func takeOver(by source: Source) { state.withLock { $0.successor = source.number } }

    /// Nothing of this encoder is let through from here on.
    func ignore(_ source: Source) {
        state.withLock { state in
            if state.heard == source.number { state.heard = nil }
            if state.successor == source.number { state.successor = nil }
            state.headers[source.number] = nil
        }
    }

    /// The stream ends to start again: the next header counts, even if it is the same.
    /// - Parameter epoch: that the encoder was made for which comes now; `nil` for the present one.
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
    /// - Parameter packets: that go on.
    fileprivate mutating func takeAwaitedCamera(in packets: [EncodedPacket]) -> EncoderEvent? {
        guard let camera = awaitedCamera,
            packets.contains(where: { !$0.kind.isHeader && $0.decodeTime >= camera.start })
        else { return nil }
        awaitedCamera = nil
        return .cameraSwitched(to: camera.name, after: MonotonicClock.now() - camera.wished)
    }

    /// - Returns: what goes into the hub: nothing, the packet, or its header before it.
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

    /// RTMP counts whole milliseconds, from a zero that lies anywhere within one. Frames from a
    /// pipe can come closer to each other: they are moved a millisecond apart, so that no two
    /// have one timestamp.
    private mutating func spread(_ packet: EncodedPacket) -> EncodedPacket {
        var packet = packet
        if let lastDecodeTime { packet.decodeTime = max(packet.decodeTime, lastDecodeTime + .milliseconds(1)) }
        lastDecodeTime = packet.decodeTime
        return packet
    }
}

extension [EncodedPacket] {
    /// With headers that say what the colors are.
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
