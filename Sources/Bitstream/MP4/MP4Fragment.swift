/// A fragment of a recording (ISO 14496-12 section 8.8): the samples of at most one GOP and the audio that arrived with them.
struct MP4Fragment: Hashable, Sendable {
    struct Sample: Hashable, Sendable {
        var byteCount: Int
        /// In the track's units.
        var duration: UInt32
        /// How much later than decoded it is shown, in the track's units.
        var compositionOffset: Int32
        var isKeyframe: Bool
    }

    /// Consecutive samples of one track.
    struct Run: Hashable, Sendable {
        let track: MP4RecordedTrack
        /// Decode time of the first sample since the file's zero, in the track's units.
        var baseTime: Int64
        var samples: [Sample] = []

        var byteCount: Int { samples.reduce(0) { $0 + $1.byteCount } }
        /// Decode time where the last sample ends.
        var end: Int64 { samples.reduce(baseTime) { $0 + Int64($1.duration) } }
    }

    /// From 1.
    let sequence: UInt32
    /// In the order of their bytes in the file.
    var runs: [Run]

    static let structure = "MP4 fragment"
    private static let headerOfData = 8
    private static let baseIsFragment: UInt32 = 0x02_0000
    /// trun: data offset, durations, sizes, flags.
    private static let presentFields: UInt32 = 0x701
    private static let presentCompositionOffsets: UInt32 = 0x800
    /// sample_depends_on: 2 for none, 1 for others; the latter is no sync sample.
    private static let keyframeFlags: UInt32 = 0x0200_0000
    private static let otherFlags: UInt32 = 0x0101_0000

    var byteCount: Int { runs.reduce(0) { $0 + $1.byteCount } }

    /// The `moof` box and the header of the `mdat` box that follows it.
    var header: [UInt8] {
        var writer = MP4BoxWriter()
        var offsetPlaces: [Int] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.append(sequence) }
            for run in runs { Self.append(run, to: &moof, offsetPlaces: &offsetPlaces) }
        }
        var offset = writer.bytes.count + Self.headerOfData
        for (run, place) in zip(runs, offsetPlaces) {
            writer.set(UInt32(truncatingIfNeeded: offset), at: place)
            offset += run.byteCount
        }
        writer.append(UInt32(truncatingIfNeeded: byteCount + Self.headerOfData))
        writer.append(text: "mdat")
        return writer.bytes
    }

    private static func append(_ run: Run, to moof: inout MP4BoxWriter, offsetPlaces: inout [Int]) {
        moof.box("traf") { traf in
            traf.fullBox("tfhd", flags: baseIsFragment) { $0.append(run.track.rawValue) }
            traf.fullBox("tfdt", version: 1) { $0.append(run.baseTime) }
            let hasOffsets = run.samples.contains { $0.compositionOffset != 0 }
            let fields = presentFields | (hasOffsets ? presentCompositionOffsets : 0)
            traf.fullBox("trun", version: 1, flags: fields) { trun in
                trun.append(UInt32(truncatingIfNeeded: run.samples.count))
                offsetPlaces.append(trun.bytes.count)
                trun.append(UInt32(0))
                for sample in run.samples {
                    trun.append([
                        sample.duration, UInt32(truncatingIfNeeded: sample.byteCount),
                        sample.isKeyframe ? keyframeFlags : otherFlags,
                    ])
                    if hasOffsets { trun.append(sample.compositionOffset) }
                }
            }
        }
    }
}

// Reads what `header` writes, and nothing else.
extension MP4Fragment {
    /// - Parameters:
    ///   - moof: the content of a `moof` box.
    ///   - dataByteCount: size of the content of the `mdat` box after it.
    init(parsing moof: [UInt8], dataByteCount: Int) throws(BitstreamError) {
        let boxes = try MP4Box.all(in: moof[...])
        let parts = MP4Boxes(boxes)
        var header = try parts.required("mfhd").reader
        _ = try header.versionAndFlags()
        sequence = try header.bigEndian32()
        runs = []
        // The header of `moof`, its content, and the header of `mdat`.
        var offset = 8 + moof.count + Self.headerOfData
        for traf in parts.all("traf") {
            let run = try Self.run(try traf.children, dataOffset: offset)
            guard !runs.contains(where: { $0.track == run.track }) else {
                throw .invalid(structure: Self.structure, field: "track", value: Int(run.track.rawValue))
            }
            runs.append(run)
            offset += run.byteCount
        }
        guard boxes.count == 1 + runs.count, !runs.isEmpty, byteCount == dataByteCount else {
            throw .invalid(structure: Self.structure, field: "size of its samples", value: byteCount)
        }
    }

    private static func run(_ boxes: MP4Boxes, dataOffset: Int) throws(BitstreamError) -> Run {
        var header = try boxes.required("tfhd").reader
        let headerFlags = try header.bigEndian32()
        let number = try header.bigEndian32()
        guard headerFlags == baseIsFragment, let track = MP4RecordedTrack(rawValue: number) else {
            throw .invalid(structure: structure, field: "track", value: Int(number))
        }
        var time = try boxes.required("tfdt").reader
        let timeVersion = try time.versionAndFlags()
        let base = try time.number(version: timeVersion)
        guard base <= MP4SampleIndex.latestTime else {
            throw .invalid(structure: structure, field: "decode time", value: Int(clamping: base))
        }
        var run = Run(track: track, baseTime: Int64(base))
        var reader = try boxes.required("trun").reader
        let fields = try reader.bigEndian32() & 0xFF_FFFF
        let count = Int(try reader.bigEndian32())
        let offset = Int(try reader.bigEndian32())
        let hasOffsets = fields & presentCompositionOffsets != 0
        guard fields & ~presentCompositionOffsets == presentFields, offset == dataOffset,
            count > 0, count * (hasOffsets ? 16 : 12) == reader.bytesLeft
        else { throw .invalid(structure: structure, field: "sample count", value: count) }
        run.samples.reserveCapacity(count)
        for _ in 0..<count { run.samples.append(try sample(&reader, hasOffset: hasOffsets)) }
        return run
    }

    private static func sample(_ reader: inout ByteReader, hasOffset: Bool) throws(BitstreamError) -> Sample {
        let duration = try reader.bigEndian32()
        let byteCount = Int(try reader.bigEndian32())
        let flags = try reader.bigEndian32()
        guard flags == keyframeFlags || flags == otherFlags, byteCount <= MP4SampleTable.largestSample else {
            throw .invalid(structure: structure, field: "size of a sample", value: byteCount)
        }
        let offset = hasOffset ? Int32(bitPattern: try reader.bigEndian32()) : 0
        return Sample(
            byteCount: byteCount, duration: duration, compositionOffset: offset, isKeyframe: flags == keyframeFlags)
    }
}
