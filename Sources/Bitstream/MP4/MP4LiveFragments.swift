import Media

/// A live stream as fragmented MP4 for a player that gets it in pieces, such as a browser's Media Source Extensions.
///
/// Each frame is a fragment of its own, together with the audio that waited before it; audio that no frame follows yet is one,
/// too. So no sample waits for a later one. Times are the packets' own, on one time line over all initialization segments.
public struct MP4LiveFragments: Sendable {
    /// The decoder's settings, which a player needs before fragments.
    public struct Start: Hashable, Sendable {
        /// As in a MIME type: `avc1.64001f,mp4a.40.2`.
        public let codecs: String
        public let size: FrameSize
        /// The boxes `ftyp` and `moov`.
        public let segment: [UInt8]
    }

    public enum Piece: Hashable, Sendable {
        /// The next fragment starts with a keyframe.
        case start(Start)
        /// The boxes `moof` and `mdat`.
        /// - Parameter isKeyframe: whether a player can start here, after the latest `start`.
        case fragment([UInt8], isKeyframe: Bool)
    }

    private var videoHeader: [UInt8]?
    private var audioHeader: [UInt8]?
    /// The tracks of the latest start; `nil` if the next keyframe needs another one.
    private var tracks: MP4RecordedTracks?
    private var videoTimes = MP4LiveTimes(timescale: MP4RecordedTracks.videoTimescale, usual: 3000)
    private var audioTimes: MP4LiveTimes?
    private var sequence: UInt32 = 0
    /// Audio for the next fragment.
    private var audio = MP4Fragment.Run(track: .audio, baseTime: 0)
    private var audioPayloads: [[UInt8]] = []
    /// Nothing is shown before the encoder's next keyframe, and no header has announced one.
    public private(set) var needsKeyframe = false

    public init() {}

    /// - Parameter packets: everything that waits, in its order. The audio's last ones do not wait for a frame.
    /// - Returns: nothing before the first keyframe.
    public mutating func append(_ packets: [EncodedPacket]) -> [Piece] {
        var pieces: [Piece] = []
        for packet in packets {
            switch packet.kind {
            case .videoHeader, .audioHeader: append(header: packet, &pieces)
            case .video(let isKeyframe): append(packet, isKeyframe: isKeyframe, &pieces)
            case .audio: append(audio: packet)
            }
        }
        endFragment(nil, &pieces)
        return pieces
    }

    /// The next packets are another stream's, on the same time line.
    public mutating func streamEnded() {
        videoHeader = nil
        audioHeader = nil
        tracks = nil
        needsKeyframe = false
    }

    private mutating func append(header packet: EncodedPacket, _ pieces: inout [Piece]) {
        // An encoder that restarts with the same settings repeats it.
        guard packet.payload != (packet.isVideo ? videoHeader : audioHeader) else { return }
        endFragment(nil, &pieces)
        if packet.isVideo { videoHeader = packet.payload } else { audioHeader = packet.payload }
        tracks = nil
    }

    // MARK: Samples

    private mutating func append(_ packet: EncodedPacket, isKeyframe: Bool, _ pieces: inout [Piece]) {
        let isStart = tracks == nil
        if isStart {
            guard isKeyframe, let start = makeStart() else {
                needsKeyframe = !isKeyframe
                return
            }
            pieces.append(.start(start))
        }
        guard let tracks, packet.payload.count <= MP4SampleTable.largestSample else { return }
        if isKeyframe { needsKeyframe = false }
        let time = tracks.time(packet.decodeTime + packet.compositionOffset, of: .video)
        if isStart, videoTimes.isLate(time) {
            videoTimes.restart()
            audioTimes?.restart()
        }
        let moment = videoTimes.append(at: time)
        if moment.isJump, !isKeyframe { needsKeyframe = true }
        var run = MP4Fragment.Run(track: .video, baseTime: moment.decodeTime)
        run.samples = [MP4Fragment.Sample(packet.payload, moment, isKeyframe: isKeyframe)]
        endFragment((run, packet.payload), &pieces)
    }

    private mutating func append(audio packet: EncodedPacket) {
        guard let tracks, tracks.audio != nil, var times = audioTimes,
            packet.payload.count <= MP4SampleTable.largestSample
        else { return }
        let time = tracks.audioTime(tracks.time(packet.decodeTime, of: .audio), after: times.newest)
        let moment = times.append(at: time, lasting: Int64(MP4RecordedTracks.audioPacketDuration))
        audioTimes = times
        if moment.isJump { needsKeyframe = true }
        if audio.samples.isEmpty { audio.baseTime = moment.decodeTime }
        // A run has no gaps: its samples' durations tell their decode times.
        if audio.end != moment.decodeTime, let last = audio.samples.indices.last {
            audio.samples[last].duration = UInt32(
                clamping: Int64(audio.samples[last].duration) + moment.decodeTime - audio.end)
        }
        audio.samples.append(MP4Fragment.Sample(packet.payload, moment, isKeyframe: true))
        audioPayloads.append(packet.payload)
    }

    /// - Parameter frame: the frame that the fragment ends with; `nil` for audio alone.
    private mutating func endFragment(_ frame: (run: MP4Fragment.Run, payload: [UInt8])?, _ pieces: inout [Piece]) {
        var runs: [MP4Fragment.Run] = []
        if let frame { runs.append(frame.run) }
        if !audio.samples.isEmpty { runs.append(audio) }
        guard !runs.isEmpty else { return }
        sequence &+= 1
        let fragment = MP4Fragment(sequence: sequence, runs: runs)
        var bytes = fragment.header
        bytes.reserveCapacity(bytes.count + fragment.byteCount)
        if let frame { bytes += frame.payload }
        for payload in audioPayloads { bytes += payload }
        audio.samples.removeAll()
        audioPayloads.removeAll()
        pieces.append(.fragment(bytes, isKeyframe: frame?.run.samples.first?.isKeyframe ?? false))
    }

    // MARK: Starts

    /// - Returns: `nil` without a valid header for video. Without a valid one for audio, the segment has only video.
    private mutating func makeStart() -> Start? {
        guard let videoHeader, let record = try? AVCDecoderConfigurationRecord(parsing: videoHeader) else { return nil }
        let video = record.withoutReordering.bytes
        guard
            let tracks = (try? MP4RecordedTracks(videoHeader: video, audioHeader: audioHeader))
                ?? (try? MP4RecordedTracks(videoHeader: video, audioHeader: nil))
        else { return nil }
        self.tracks = tracks
        let rate = tracks.timescale(.audio)
        audioTimes =
            audioTimes?.rescaled(to: rate)
            ?? MP4LiveTimes(timescale: rate, usual: Int64(MP4RecordedTracks.audioPacketDuration))
        let header = MP4RecordingHeader(tracks: tracks, creation: nil)
        return Start(
            codecs: tracks.codecs, size: tracks.size, segment: MP4RecordingHeader.fileType + header.movie(nil))
    }
}

extension MP4RecordedTracks {
    /// A capture time in a track's units, never negative.
    fileprivate func time(_ time: MediaTimestamp, of track: MP4RecordedTrack) -> Int64 {
        max(0, units(time - .zero, of: track))
    }
}

extension MP4Fragment.Sample {
    fileprivate init(_ payload: [UInt8], _ moment: MP4LiveTimes.Moment, isKeyframe: Bool) {
        self.init(
            byteCount: payload.count, duration: moment.duration, compositionOffset: moment.compositionOffset,
            isKeyframe: isKeyframe)
    }
}
