import Bitstream
import DevicePorts
import Media

/// The decoded video frames of a movie, from start to end, in display order. Used from one thread.
struct MovieFrames {
    /// A frame and its display time, counted from the movie's start.
    typealias Frame = (frame: PooledFrame, time: Duration)

    let layout: FrameLayout
    let colors: VideoColors?
    let track: MP4Track
    private let file: MovieFile
    private let record: AVCDecoderConfigurationRecord
    private var decoder: H264Decoder
    private var samples: MP4SampleTable.Iterator
    private var number = 0
    /// Display times of the samples inside the decoder, by number.
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
        /// The next frame; stays the same until `takeNext`.
        case frame(Frame)
        /// This sample yielded no frame, but the next one may.
        case nothing
        case ended
    }

    /// Decodes at most one sample, so that the caller can stop among many that yield no frame.
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

    /// Continues with the first keyframe at or after this time, if there is one.
    /// - Returns: number of skipped frames.
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

    /// Frames before the start of an edit are decoded only because others need them.
    private mutating func show(_ decoded: H264Decoder.DecodedFrame) throws(FileSourceError) {
        guard decoded.size == layout.size else {
            throw .unsupportedVideo(path: file.path, reason: "its frame size changes midway")
        }
        guard let time = times.removeValue(forKey: decoded.number), time >= track.start, time < track.end else {
            return
        }
        let frame = pool.take()
        frame.withMutableBytes { [layout] in decoded.copy(to: $0, layout) }
        ready.append((frame, time))
    }

    /// Removes samples that never came out because they are broken.
    private mutating func forgetLost() {
        let mostInDecoder = 64
        guard times.count > 2 * mostInDecoder else { return }
        let first = number - mostInDecoder
        times = times.filter { $0.key >= first }
    }
}
