import Media

/// A movie's samples as FLV tags, in the order of their decode times. Times count from the earliest sample.
///
/// A server shows every frame that it gets, so edits are followed as far as samples can be left out: leading GOPs, audio
/// beyond the edits, and frames after the last visible one.
public struct MP4TagSequence: Sendable {
    /// Why a movie cannot be published.
    public enum Obstacle: Error, Hashable, Sendable {
        /// - Parameter found: the format of its video, if there is any.
        case noVideo(found: String?)
        /// Audio in another format than AAC.
        case otherAudio(String)
        /// No keyframe is visible.
        case noFrames
        /// The edit list starts between keyframes: this much before it would be shown.
        case hiddenFrames(Duration)
        case tooLargeFrame(byteCount: Int)
    }

    /// A sample that becomes a tag.
    public struct Item: Sendable {
        public let sample: MP4Sample
        fileprivate let kind: EncodedPacket.Kind
        fileprivate let time: MediaTimestamp
        fileprivate let compositionOffset: Duration

        /// - Parameter payload: the sample's bytes.
        public func tag(_ payload: [UInt8]) -> FLVTag {
            FLVTag(
                EncodedPacket(
                    kind: kind, decodeTime: time, compositionOffset: compositionOffset, payload: payload),
                base: .zero)
        }
    }

    /// The decoder settings.
    public let headers: [FLVTag]
    private var video: Selection
    private var audio: Selection?

    /// A message has at most 24 bits of length, with the media header.
    fileprivate static let largestSample = 0xFF_FFFF - 5

    public init(_ movie: MP4Movie) throws(Obstacle) {
        guard let track = movie.video, case .avc(let record) = track.description else {
            throw .noVideo(found: movie.otherVideo)
        }
        if let other = movie.otherAudio { throw .otherAudio(other) }
        var headers = [EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: record.bytes)]
        video = try Selection(framesOf: track)
        if let track = movie.audio, case .aac(_, let config) = track.description {
            headers.append(EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: config))
            audio = try Selection(packetsOf: track)
        }
        self.headers = headers.map { FLVTag($0, base: .zero) }
        let start = min(video.nextTime ?? .zero, audio?.nextTime ?? video.nextTime ?? .zero)
        video.zero = start
        audio?.zero = start
    }

    public mutating func next() -> Item? {
        switch (video.nextTime, audio?.nextTime) {
        case (nil, nil): nil
        case (_?, nil): video.take()
        case (nil, _?): audio?.take()
        case (let frame?, let packet?): frame <= packet ? video.take() : audio?.take()
        }
    }
}

extension MP4TagSequence.Obstacle: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noVideo(let found): "it has no H.264 video" + (found.map { ": its video is \($0)" } ?? "")
        case .otherAudio(let found): "its audio is \(found), not AAC"
        case .noFrames: "its video has no keyframe that is shown"
        case .hiddenFrames(let time):
            "its edit list hides \(fixed(time.inSeconds, decimals: 2)) s of video that decoding needs and a server would show"
        case .tooLargeFrame(let byteCount): "a frame has \(byteCount) bytes, more than RTMP can send"
        }
    }
}

/// A track's samples that are published.
private struct Selection: Sendable {
    /// Times in movies are rounded.
    private static let tolerance = Duration.milliseconds(1)
    /// Audio that decoders need before the first sound.
    private static let audioLead = Duration.milliseconds(100)

    private let track: MP4Track
    private var samples: MP4SampleTable.Iterator
    /// Including `next`.
    private var count: Int
    private(set) var next: MP4Sample?
    /// The movie's time that becomes 0.
    var zero = Duration.zero

    /// - Parameter track: of video: from the keyframe that shows the edit's start to the last visible frame.
    init(framesOf track: MP4Track) throws(MP4TagSequence.Obstacle) {
        self.track = track
        samples = track.samples.makeIterator()
        var first: (index: Int, shown: Duration, position: MP4SampleTable.Iterator)?
        var last: Int?
        var position = samples
        var index = 0
        while let sample = samples.next() {
            let shown = try Self.time(of: sample, track)
            if sample.isKeyframe, first == nil || shown <= track.start + Self.tolerance {
                first = (index, shown, position)
            }
            if shown < track.end { last = index }
            position = samples
            index += 1
        }
        guard let first, let last, last >= first.index else { throw .noFrames }
        let hidden = track.start - first.shown
        guard hidden <= Self.tolerance else { throw .hiddenFrames(hidden) }
        samples = first.position
        count = last - first.index + 1
        next = samples.next()
    }

    /// - Parameter track: of audio: what is heard, and what decoders need before it.
    init(packetsOf track: MP4Track) throws(MP4TagSequence.Obstacle) {
        self.track = track
        samples = track.samples.makeIterator()
        count = 0
        var position = samples
        var start: MP4SampleTable.Iterator?
        while let sample = samples.next() {
            let time = try Self.time(of: sample, track)
            if time >= track.start - Self.audioLead, time < track.end {
                start = start ?? position
                count += 1
            }
            position = samples
        }
        samples = start ?? samples
        next = count > 0 ? samples.next() : nil
    }

    private static func time(of sample: MP4Sample, _ track: MP4Track) throws(MP4TagSequence.Obstacle) -> Duration {
        guard sample.byteCount <= MP4TagSequence.largestSample else {
            throw .tooLargeFrame(byteCount: sample.byteCount)
        }
        return track.time(of: sample)
    }

    /// In the movie; `nil` at the end.
    var nextTime: Duration? { next.map(track.decodeTime) }

    mutating func take() -> MP4TagSequence.Item? {
        guard let sample = next else { return nil }
        count -= 1
        next = count > 0 ? samples.next() : nil
        let isVideo = if case .avc = track.description { true } else { false }
        return MP4TagSequence.Item(
            sample: sample, kind: isVideo ? .video(isKeyframe: sample.isKeyframe) : .audio,
            time: .zero + (track.decodeTime(of: sample) - zero),
            compositionOffset: isVideo ? track.compositionOffset(of: sample) : .zero)
    }
}
