import Media

/// Merges the packets of both tracks in the order of their times. Each track is in order by itself, but audio and video come
/// with different delays, and a file that is cut at a keyframe needs the audio from before it.
struct PacketOrder: Sendable {
    /// How long a track waits for the other one.
    static let patience = Duration.seconds(1)

    private let expectsVideo: Bool
    private let expectsAudio: Bool
    private var video: [EncodedPacket] = []
    private var audio: [EncodedPacket] = []
    private var newest: MediaTimestamp?

    init(expectsVideo: Bool, expectsAudio: Bool) {
        self.expectsVideo = expectsVideo
        self.expectsAudio = expectsAudio
    }

    var byteCount: Int { (video + audio).reduce(0) { $0 + $1.payload.count } }

    /// - Returns: the packets whose turn it is.
    mutating func append(_ packet: EncodedPacket) -> [EncodedPacket] {
        if packet.isVideo { video.append(packet) } else { audio.append(packet) }
        if !packet.isHeader { newest = max(newest ?? packet.decodeTime, packet.decodeTime) }
        var ready: [EncodedPacket] = []
        while let next = takeNext(waits: true) { ready.append(next) }
        return ready
    }

    private mutating func takeNext(waits: Bool) -> EncodedPacket? {
        switch (video.first, audio.first) {
        case (let frame?, _) where frame.isHeader: return video.removeFirst()
        case (_, let packet?) where packet.isHeader: return audio.removeFirst()
        case (nil, nil): return nil
        case (let frame?, let packet?):
            return frame.decodeTime <= packet.decodeTime ? video.removeFirst() : audio.removeFirst()
        case (let frame?, nil): return !waits || !expectsAudio || isOld(frame) ? video.removeFirst() : nil
        case (nil, let packet?): return !waits || !expectsVideo || isOld(packet) ? audio.removeFirst() : nil
        }
    }

    private func isOld(_ packet: EncodedPacket) -> Bool {
        newest.map { $0 - packet.decodeTime >= Self.patience } ?? false
    }

    /// Everything, without waiting.
    mutating func flush() -> [EncodedPacket] {
        var rest: [EncodedPacket] = []
        while let next = takeNext(waits: false) { rest.append(next) }
        return rest
    }
}
