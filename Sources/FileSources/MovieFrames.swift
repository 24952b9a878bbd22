import Bitstream
import DevicePorts
import Media

/// The frames of a movie's video, decoded, from its start to its end, in the order in which they are shown. Used from one thread.
struct MovieFrames {
    /// A frame, and when it is shown, counted from the movie's start.
    typealias Frame = (frame: PooledFrame, time: Duration)

    let layout: FrameLayout
    let colors: VideoColors?
    let track: MP4Track
    private let file: MovieFile
    private let record: AVCDecoderConfigurationRecord
    private var decoder: H264Decoder
    private var samples: MP4SampleTable.Iterator
    private var number = 0
    /// When the samples are shown that are in the decoder, by their number.
    private var times: [Int: Duration] = [:]
    private var ready: [Frame] = []
    private var isFlushed = false
    private var pool: FramePool

    init(_ file: MovieFile) throws(FileSourceError) {
        guard let track = file.movie.video, case .avc(let record) = track.description else {
            throw .noTrack(path: file.path, .video, found: file.movie.otherVideo)
        }
        self.file = file
        self.track = track
        self.record = record
        guard let first = record.sequenceParameterSets.first,
            let set = try? SequenceParameterSet(nalUnit: first)
        else { throw .unsupportedVideo(path: file.path, reason: "its parameter sets are damaged") }
        if let obstacle = H264Decoder.obstacle(to: set) {
            throw .unsupportedVideo(path: file.path, reason: obstacle)
        }
        layout = FrameLayout(packed: .i420, size: set.size)
        colors = set.colors
        decoder = try H264Decoder(record)
        samples = track.samples.makeIterator()
        pool = FramePool(byteCount: layout.byteCount)
    }

    /// The outcome of decoding one sample.
    enum Step {
        /// The next frame; the same one until `takeNext`.
        case frame(Frame)
        /// No frame came out of this sample. The next one may give one.
        case nothing
        case ended
    }

    /// Decodes one sample at most, so that the caller can stop among many that give no frame.
    mutating func next() throws(FileSourceError) -> Step {
        if ready.isEmpty, !isFlushed { try decodeSample() }
        if let first = ready.first { return .frame(first) }
        return isFlushed ? .ended : .nothing
    }

    private mutating func decodeSample() throws(FileSourceError) {
        let decoded: H264Decoder.DecodedFrame?
        if let sample = samples.next() {
            let bytes = try file.bytes(of: sample)
            times[number] = track.time(of: sample)
            decoded = decoder.decode(bytes, number: number)
            number += 1
            forgetLost()
        } else {
            decoded = decoder.flush()
            isFlushed = decoded == nil
        }
        if let decoded { try show(decoded) }
    }

    mutating func takeNext() { if !ready.isEmpty { ready.removeFirst() } }

    mutating func rewind() throws(FileSourceError) {
        try start(with: track.samples.makeIterator())
        isFlushed = false
    }

    /// Goes on with the first keyframe that is shown at this time or later, if there is one.
    /// - Returns: how many frames are left out.
    mutating func skip(to time: Duration) throws(FileSourceError) -> Int {
        var rest = samples
        var before = rest
        var count = 0
        while let sample = rest.next() {
            if sample.isKeyframe, track.time(of: sample) >= time {
                let left = count + ready.count + times.count
                try start(with: before)
                return left
            }
            before = rest
            count += 1
        }
        return 0
    }

    private mutating func start(with samples: MP4SampleTable.Iterator) throws(FileSourceError) {
        decoder = try H264Decoder(record)
        self.samples = samples
        times = [:]
        ready = []
        number = 0
    }

    /// Frames from before the start of an edit are decoded for the sake of others.
    private mutating func show(_ decoded: H264Decoder.DecodedFrame) throws(FileSourceError) {
        guard decoded.size == layout.size else {
            throw .unsupportedVideo(path: file.path, reason: "its frame size changes on the way")
        }
        guard let time = times.removeValue(forKey: decoded.number), time >= track.start, time < track.end else {
            return
        }
        let frame = pool.take()
        frame.withMutableBytes { [layout] in decoded.copy(to: $0, layout) }
        ready.append((frame, time))
    }

    /// What is broken never comes out.
    private mutating func forgetLost() {
        let mostInDecoder = 64
        guard times.count > 2 * mostInDecoder else { return }
        let first = number - mostInDecoder
        times = times.filter { $0.key >= first }
    }
}
