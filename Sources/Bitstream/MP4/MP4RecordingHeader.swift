import Media

/// The `ftyp` and `moov` boxes of a recording.
struct MP4RecordingHeader: Hashable, Sendable {
    let tracks: MP4RecordedTracks
    /// UNIX seconds; `nil` if the clock was not set.
    let creation: Int64?

    /// From 1904-01-01 to 1970-01-01, in seconds.
    static let epochOfMP4: Int64 = 2_082_844_800
    private static let unityMatrix: [UInt32] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]

    /// 32 bytes.
    static let fileType: [UInt8] = {
        var writer = MP4BoxWriter()
        writer.box("ftyp") { box in
            box.append(text: "isom")
            box.append(UInt32(0x200))
            for brand in ["isom", "iso6", "avc1", "mp41"] { box.append(text: brand) }
        }
        return writer.bytes
    }()

    private var creationTime: Int64 { creation.map { max(0, $0 &+ Self.epochOfMP4) } ?? 0 }

    /// - Parameter index: the samples of a finished file; `nil` for a file that grows by fragments.
    func movie(_ index: MP4SampleIndex?) -> [UInt8] {
        var writer = MP4BoxWriter()
        writer.box("moov") { moov in
            appendMovieHeader(index, to: &moov)
            // A track without samples would make players wait for it.
            for track in tracks.all where index.map({ $0[track].sampleCount > 0 }) ?? true {
                moov.box("trak") { append(track, index?[track], to: &$0) }
            }
            guard index == nil else { return }
            moov.box("mvex") { box in
                for track in tracks.all {
                    box.fullBox("trex") { $0.append([track.rawValue, 1, 0, 0, 0]) }
                }
            }
        }
        return writer.bytes
    }

    private func appendMovieHeader(_ index: MP4SampleIndex?, to writer: inout MP4BoxWriter) {
        writer.fullBox("mvhd", version: 1) { box in
            box.append(creationTime)
            box.append(creationTime)
            box.append(UInt32(MP4RecordedTracks.videoTimescale))
            box.append(index.map { movieDuration($0) } ?? 0)
            box.append(UInt32(0x1_0000))  // rate
            box.append(UInt16(0x100))  // volume
            box.appendZeros(10)
            box.append(Self.unityMatrix)
            box.appendZeros(24)
            box.append(UInt32(3))  // next_track_ID
        }
    }

    /// In the movie's units.
    private func movieDuration(_ index: MP4SampleIndex) -> Int64 {
        tracks.all.map { inMovie(index[$0].end, $0) }.max() ?? 0
    }

    private func inMovie(_ time: Int64, _ track: MP4RecordedTrack) -> Int64 {
        let scale = Int64(tracks.timescale(track))
        let movie = Int64(MP4RecordedTracks.videoTimescale)
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: scale)
        return seconds &* movie &+ (rest &* movie + scale / 2) / scale
    }

    private func append(_ track: MP4RecordedTrack, _ index: MP4SampleIndex.Track?, to writer: inout MP4BoxWriter) {
        let isVideo = track == .video
        writer.fullBox("tkhd", version: 1, flags: 3) { box in
            box.append(creationTime)
            box.append(creationTime)
            box.append([track.rawValue, 0])
            box.append(index.map { inMovie($0.end, track) } ?? 0)
            box.appendZeros(12)
            box.append(UInt16(isVideo ? 0 : 0x100))  // volume
            box.appendZeros(2)
            box.append(Self.unityMatrix)
            box.append(isVideo ? UInt32(truncatingIfNeeded: tracks.size.width) << 16 : 0)
            box.append(isVideo ? UInt32(truncatingIfNeeded: tracks.size.height) << 16 : 0)
        }
        if let index, index.start > 0 { appendDelay(index, track, to: &writer) }
        writer.box("mdia") { appendMedia(track, index, to: &$0) }
    }

    /// An empty edit, for a track that starts after the file's zero (section 8.6.6).
    private func appendDelay(_ index: MP4SampleIndex.Track, _ track: MP4RecordedTrack, to writer: inout MP4BoxWriter) {
        writer.box("edts") { edts in
            edts.fullBox("elst", version: 1) { box in
                box.append(UInt32(2))
                let delay = inMovie(index.start, track)
                box.append(delay)
                box.append(Int64(-1))
                box.append(UInt32(0x1_0000))
                box.append(inMovie(index.end, track) - delay)
                box.append(Int64(0))
                box.append(UInt32(0x1_0000))
            }
        }
    }

    private func appendMedia(_ track: MP4RecordedTrack, _ index: MP4SampleIndex.Track?, to mdia: inout MP4BoxWriter) {
        let isVideo = track == .video
        mdia.fullBox("mdhd", version: 1) { box in
            box.append(creationTime)
            box.append(creationTime)
            box.append(UInt32(tracks.timescale(track)))
            box.append(index?.duration ?? 0)
            box.append(UInt16(0x55C4))  // language: undetermined
            box.appendZeros(2)
        }
        mdia.fullBox("hdlr") { box in
            box.append(UInt32(0))
            box.append(text: isVideo ? "vide" : "soun")
            box.appendZeros(12)
            box.append(text: isVideo ? "video\0" : "audio\0")
        }
        mdia.box("minf") { minf in
            if isVideo {
                minf.fullBox("vmhd", flags: 1) { $0.appendZeros(8) }
            } else {
                minf.fullBox("smhd") { $0.appendZeros(4) }
            }
            minf.box("dinf") { dinf in
                dinf.fullBox("dref") { dref in
                    dref.append(UInt32(1))
                    dref.fullBox("url ", flags: 1) { _ in }
                }
            }
            minf.box("stbl") { stbl in
                tracks.appendDescription(of: track, to: &stbl)
                (index ?? MP4SampleIndex.Track()).appendTables(allAreKeyframes: index == nil || !isVideo, to: &stbl)
            }
        }
    }
}

extension MP4RecordingHeader {
    /// Reads what `movie(nil)` writes.
    /// - Parameter moov: the box's content.
    init(parsing moov: [UInt8]) throws(BitstreamError) {
        let boxes = MP4Boxes(try MP4Box.all(in: moov[...]))
        _ = try boxes.required("mvex")
        var header = try boxes.required("mvhd").reader
        let time = Int64(clamping: try header.number(version: try header.versionAndFlags()))
        creation = time == 0 ? nil : time - Self.epochOfMP4
        var videoHeader: [UInt8]?
        var audioHeader: [UInt8]?
        for box in boxes.all("trak") {
            switch try MP4SampleDescription(of: try box.children) {
            case .avc(let record): videoHeader = record.bytes
            case .aac(_, let bytes): audioHeader = bytes
            case .other(let name): throw .unsupported(structure: MP4Movie.structure, feature: name)
            }
        }
        tracks = try MP4RecordedTracks(videoHeader: videoHeader, audioHeader: audioHeader)
    }
}
