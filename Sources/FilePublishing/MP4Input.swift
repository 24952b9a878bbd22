import Bitstream
import FileSources
import Media
import RTMP
import StreamLogic
import StreamQuality

/// An MP4 file, plain or fragmented, whose samples become tags.
final class MP4Input: TagInput {
    private let file: MovieFile
    private var tags: MP4TagSequence
    /// Precede the samples.
    private var first: ArraySlice<FLVTag>

    /// Reads the table of contents, which takes as long as the disk does.
    init(_ path: String) throws(StreamFailure) {
        do throws(FileSourceError) {
            file = try MovieFile(path)
        } catch {
            throw StreamFailure(.media, "\(error)")
        }
        do throws(MP4TagSequence.Obstacle) {
            tags = try MP4TagSequence(file.movie)
        } catch {
            throw StreamFailure(.media, "\(path): \(error)\(error.advice(path))")
        }
        first = [Self.metadata(of: file.movie)] + tags.headers
    }

    /// Files are always ready.
    var fileDescriptor: Int32 { -1 }

    var notes: [String] {
        let movie = file.movie
        return [
            movie.isCutOff ? "\(file.path) ends within a fragment, which is left out" : nil,
            Self.note(file.path, "video", "H.264", movie.furtherVideoCount),
            Self.note(file.path, "audio", "AAC", movie.furtherAudioCount),
        ].compactMap { $0 }
    }

    private static func note(_ path: String, _ kind: String, _ format: String, _ further: Int) -> String? {
        further > 0 ? "\(path) has \(further + 1) \(kind) tracks in \(format); publishing the first one" : nil
    }

    func next() throws(StreamFailure) -> TagRead {
        if let tag = first.popFirst() { return .tag(tag) }
        guard let item = tags.next() else { return .end }
        do throws(FileSourceError) {
            return .tag(item.tag(try file.bytes(of: item.sample)))
        } catch {
            throw StreamFailure(.media, "\(error)")
        }
    }

    /// As an encoder announces it; the bit rates are averages.
    private static func metadata(of movie: MP4Movie) -> FLVTag {
        func bitrate(_ track: MP4Track) -> Bitrate {
            let bytes = track.samples.reduce(0) { $0 + $1.byteCount }
            let seconds = Double(track.samples.duration) / Double(track.timescale)
            return Bitrate(bitsPerSecond: seconds > 0 ? Int(Double(bytes) * 8 / seconds) : 0)
        }
        var metadata = StreamMetadata(video: nil, audio: nil)
        if let track = movie.video, case .avc(let record) = track.description,
            let set = record.sequenceParameterSets.first, let size = try? SequenceParameterSet(nalUnit: set).size
        {
            let rate = min(max(1, Int(track.sampleRate.rounded())), 240)
            metadata.video = StreamMetadata.Video(
                size: size, frameRate: FrameRate(framesPerSecond: rate), bitrate: bitrate(track))
        }
        if let track = movie.audio, case .aac(let config, _) = track.description {
            metadata.audio = StreamMetadata.Audio(
                bitrate: bitrate(track), sampleRate: config.extensionSampleRate ?? config.sampleRate,
                channelCount: config.channelCount ?? 2)
        }
        return metadata.tag(encoderName: "Tallycam/\(Program.version)")
    }
}

extension MP4TagSequence.Obstacle {
    /// How ffmpeg makes a file that can be published.
    fileprivate func advice(_ path: String) -> String {
        switch self {
        case .noFrames: ""
        case .noVideo(found: nil): ""
        case .noVideo, .hiddenFrames, .tooLargeFrame:
            "; ffmpeg -i \(path) -c:v libx264 -c:a aac new.mp4 makes a file that can be published"
        case .otherAudio: "; ffmpeg -i \(path) -c:v copy -c:a aac new.mp4 converts it"
        }
    }
}
