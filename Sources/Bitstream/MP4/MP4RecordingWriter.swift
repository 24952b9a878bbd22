import Media

/// One thing to do to a recording's file. Steps are done in their order, each only after the one before has succeeded.
public enum MP4FileStep: Hashable, Sendable {
    /// Consecutive bytes, in pieces that share the packets' memory.
    case write([[UInt8]], at: Int)
    /// Cuts the file to this size.
    case truncate(to: Int)
    /// Waits until the medium has everything that was written.
    case synchronize
}

/// The time of day of a capture time.
public struct MP4WallClock: Hashable, Sendable {
    /// UNIX nanoseconds minus the nanoseconds of a `MediaTimestamp` of the same moment.
    public let offset: Int64

    public init(offset: Int64) { self.offset = offset }

    /// Seconds since 1900 with 32 bits of fraction (RFC 5905 section 6).
    func networkTime(of time: MediaTimestamp) -> UInt64 {
        let nanoseconds = time.nanoseconds &+ offset
        guard nanoseconds >= 0 else { return 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt64(truncatingIfNeeded: seconds &+ 2_208_988_800) << 32 | (UInt64(rest) << 32) / 1_000_000_000
    }
}

/// An MP4 file that can be played after a power cut at any moment, and is a plain MP4 file with an index at the end.
///
///     ftyp   free   moov (mvex)   prft moof mdat   prft moof mdat   …              while it grows
///     ftyp   mdat ───────────────────────────────────────────────── moov (index)   finished
///
/// What a power cut leaves, by the last step that the medium has:
/// - *Head*: file type, placeholder and the description of the tracks in one write. Before it is complete, there is nothing to
///   lose, and `MP4RecordingRepair` says so.
/// - *A fragment*: the file so far, whose size and contents were synchronized, and any part of the new one. Players and the
///   repair stop at the first box that is not complete. A fragment is synchronized before the next one is written, so at most
///   the last one is damaged, however the file system orders its writes.
/// - *The index*, appended behind the last fragment and synchronized: until the next step, it is an incomplete or a second
///   `moov`, which players ignore, and the repair writes again.
/// - *The placeholder*: its 16 bytes become the header of an `mdat` that covers everything up to the index. They are within the
///   file's first sector, which is written as a whole: the file is either fragmented or finished. The index is on the medium
///   before, so a finished header never points at a missing index. The last synchronization only makes this lasting.
/// No step writes over a sample, and no sample moves.
public struct MP4RecordingWriter: Sendable {
    static let placeholderOffset = MP4RecordingHeader.fileType.count
    static let placeholderByteCount = 16

    let header: MP4RecordingHeader
    /// The file's time zero.
    public let start: MediaTimestamp
    /// Bytes of the complete fragments and what is before them.
    public private(set) var byteCount = 0
    private var index = MP4SampleIndex()
    private var sequence: UInt32 = 0
    private var video = OpenRun(.video)
    private var audio = OpenRun(.audio)

    /// Samples of the fragment that is being collected.
    private struct OpenRun: Sendable {
        var run: MP4Fragment.Run
        var payloads: [[UInt8]] = []
        var byteCount = 0
        /// Decode time of the newest sample.
        var newest: Int64?
        /// The duration of the sample before the newest one.
        var lastDuration: UInt32

        init(_ track: MP4RecordedTrack) {
            run = MP4Fragment.Run(track: track, baseTime: 0)
            lastDuration = track == .audio ? MP4RecordedTracks.audioPacketDuration : 3000
        }

        /// - Parameter time: its decode time, never before the newest one's.
        mutating func append(_ sample: MP4Fragment.Sample, _ payload: [UInt8], at time: Int64) {
            newestEnds(at: time)
            if run.samples.isEmpty { run.baseTime = time }
            newest = time
            run.samples.append(sample)
            payloads.append(payload)
            byteCount += payload.count
        }

        mutating func newestEnds(at time: Int64) {
            guard let newest, time > newest else { return }
            lastDuration = UInt32(clamping: time - newest)
            if !run.samples.isEmpty { run.samples[run.samples.count - 1].duration = lastDuration }
        }

        /// Starts the next run.
        mutating func take() -> (MP4Fragment.Run, [[UInt8]]) {
            defer {
                run.samples.removeAll()
                payloads.removeAll()
                byteCount = 0
            }
            return (run, payloads)
        }
    }

    /// - Parameters:
    ///   - start: the file's time zero: the time of its first keyframe, or of its first audio without video.
    ///   - creation: UNIX seconds; `nil` if the clock is not set.
    public init(_ tracks: MP4RecordedTracks, start: MediaTimestamp, creation: Int64?) {
        header = MP4RecordingHeader(tracks: tracks, creation: creation)
        self.start = start
    }

    /// The decoder settings of the tracks.
    public var tracks: MP4RecordedTracks { header.tracks }

    /// Bytes of the samples that are not in the file yet.
    public var openByteCount: Int { video.byteCount + audio.byteCount }

    public var isOpenEmpty: Bool { video.run.samples.isEmpty && audio.run.samples.isEmpty }

    /// Samples in the file and in the open fragment.
    public var frameCount: Int { index.video.sampleCount + video.run.samples.count }
    public var audioPacketCount: Int { index.audio.sampleCount + audio.run.samples.count }

    /// The steps that create the file.
    public mutating func begin() -> [MP4FileStep] {
        let bytes = MP4RecordingHeader.fileType + Self.placeholder + header.movie(nil)
        byteCount = bytes.count
        return [.write([bytes], at: 0), .synchronize]
    }

    /// A box that every reader skips.
    static let placeholder: [UInt8] = {
        var writer = MP4BoxWriter()
        writer.box("free") { $0.appendZeros(8) }
        return writer.bytes
    }()

    /// Adds a frame or audio to the open fragment.
    /// - Returns: false if the file has no such track, or if it is from before the file's zero.
    public mutating func append(_ packet: EncodedPacket) -> Bool {
        let track: MP4RecordedTrack = packet.isVideo ? .video : .audio
        let elapsed = packet.decodeTime - start
        guard !packet.isHeader, tracks.all.contains(track), elapsed >= .zero,
            packet.payload.count <= MP4SampleTable.largestSample
        else { return false }
        let time = tracks.units(elapsed, of: track)
        if track == .audio {
            append(packet, audioAt: time)
        } else {
            let sample = MP4Fragment.Sample(
                byteCount: packet.payload.count, duration: video.lastDuration,
                compositionOffset: Int32(clamping: tracks.units(packet.compositionOffset, of: .video)),
                isKeyframe: packet.kind == .video(isKeyframe: true))
            video.append(sample, packet.payload, at: max(time, (video.newest ?? -1) + 1))
        }
        return true
    }

    private mutating func append(_ packet: EncodedPacket, audioAt time: Int64) {
        let sample = MP4Fragment.Sample(
            byteCount: packet.payload.count, duration: MP4RecordedTracks.audioPacketDuration, compositionOffset: 0,
            isKeyframe: true)
        audio.append(sample, packet.payload, at: tracks.audioTime(time, after: audio.newest))
    }

    /// Ends the open fragment.
    /// - Parameters:
    ///   - nextFrame: decode time of the frame that follows; `nil` if it is unknown.
    ///   - clock: the time of day; `nil` if the clock is not set.
    /// - Returns: the steps that append it to the file; none if it is empty.
    public mutating func endFragment(nextFrame: MediaTimestamp?, clock: MP4WallClock?) -> [MP4FileStep] {
        guard !isOpenEmpty else { return [] }
        if let nextFrame { video.newestEnds(at: tracks.units(nextFrame - start, of: .video)) }
        sequence += 1
        let taken = [video.take(), audio.take()].filter { !$0.0.samples.isEmpty }
        let fragment = MP4Fragment(sequence: sequence, runs: taken.map(\.0))
        let head = referenceTime(of: fragment.runs, clock) + fragment.header
        let place = byteCount
        index.add(fragment, dataOffset: place + head.count)
        byteCount = place + head.count + fragment.byteCount
        return [.write([head] + taken.flatMap(\.1), at: place), .synchronize]
    }

    /// A `prft` box: when the fragment's first sample was captured (section 8.16.5). Its flags say that the times follow a real
    /// clock.
    private func referenceTime(of runs: [MP4Fragment.Run], _ clock: MP4WallClock?) -> [UInt8] {
        guard let clock, let run = runs.first else { return [] }
        let elapsed = Duration.ofUnits(run.baseTime, perSecond: tracks.timescale(run.track))
        var writer = MP4BoxWriter()
        writer.fullBox("prft", version: 1, flags: 24) { box in
            box.append(run.track.rawValue)
            box.append(clock.networkTime(of: start + elapsed))
            box.append(run.baseTime)
        }
        return writer.bytes
    }

    /// The steps that make a plain MP4 file of the complete fragments.
    public func finish() -> [MP4FileStep] { Self.finish(header, index, byteCount: byteCount) }

    static func finish(_ header: MP4RecordingHeader, _ index: MP4SampleIndex, byteCount: Int) -> [MP4FileStep] {
        var media = MP4BoxWriter()
        media.append(UInt32(1))
        media.append(text: "mdat")
        media.append(UInt64(byteCount - placeholderOffset))
        return [
            .write([header.movie(index)], at: byteCount), .synchronize, .write([media.bytes], at: placeholderOffset),
            .synchronize,
        ]
    }

    /// Bytes that `finish` adds, at most.
    public var finishByteCount: Int { 4096 + 24 * (frameCount + audioPacketCount) }
}
