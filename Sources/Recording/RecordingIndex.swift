import Bitstream
import LinuxIO
import Media
import RecordingLogic

/// A recording's samples and the times at which it can be cut.
struct RecordingIndex {
    let movie: MP4Movie
    /// Decode times, in order.
    let keyframes: [Duration]
    /// Just after the last frame's start: what follows is no gap of its own. Without video, the last audio's start.
    let end: Duration

    /// Times of audio in a file differ by so much from its capture times.
    private static let audioTolerance = Duration.milliseconds(20)

    /// - Returns: `nil` for a file that is damaged.
    init?(_ file: LinuxRecordingFile) throws(SystemCallError) {
        let byteCount = try file.byteCount
        do throws(MP4FileProblem<SystemCallError>) {
            movie = try MP4Movie(byteCount: byteCount) { offset, count throws(SystemCallError) in
                try file.read(at: offset, count: count)
            }
        } catch {
            guard case .unreadable(let error) = error else { return nil }
            throw error
        }
        let video = movie.video.map { track in track.samples.map { (track.decodeTime(of: $0), $0.isKeyframe) } }
        keyframes = video?.compactMap { $0.1 ? $0.0 : nil } ?? []
        let audio = movie.audio.map { track in track.samples.reduce(.zero) { max($0, track.decodeTime(of: $1)) } }
        end = (video?.last?.0).map { $0 + .milliseconds(2) } ?? max(.zero, (audio ?? .zero) - Self.audioTolerance)
    }

    /// What a server lacks: whole GOPs. The last one extends to the end of its last sample.
    func gaps(of target: String, _ journal: RecordingJournalContents) -> TimeRanges {
        let gaps = journal.gaps(of: target, keyframes: keyframes, end: end)
        return TimeRanges(
            gaps.ranges.map { $0.upperBound == end ? $0.lowerBound..<max(end, movie.duration) : $0 })
    }

    /// A sample and what it becomes in another file.
    struct Item {
        let sample: MP4Sample
        let kind: EncodedPacket.Kind
        let time: Duration
        let compositionOffset: Duration
    }

    /// The samples of a part, in the order of their decode times.
    func items(in range: Range<Duration>) -> [Item] {
        var items: [Item] = []
        for track in [movie.video, movie.audio] {
            guard let track else { continue }
            let isVideo = if case .avc = track.description { true } else { false }
            for sample in track.samples {
                let time = track.decodeTime(of: sample)
                guard range.contains(time) else { continue }
                items.append(
                    Item(
                        sample: sample, kind: isVideo ? .video(isKeyframe: sample.isKeyframe) : .audio, time: time,
                        compositionOffset: isVideo ? track.compositionOffset(of: sample) : .zero))
            }
        }
        // A keyframe first, then the audio of the same time.
        return items.sorted { ($0.time, $0.kind.isVideo ? 0 : 1) < ($1.time, $1.kind.isVideo ? 0 : 1) }
    }

    func tracks() throws(BitstreamError) -> MP4RecordedTracks {
        var video: [UInt8]?
        var audio: [UInt8]?
        if case .avc(let record)? = movie.video?.description { video = record.bytes }
        if case .aac(_, let config)? = movie.audio?.description { audio = config }
        return try MP4RecordedTracks(videoHeader: video, audioHeader: audio)
    }
}
