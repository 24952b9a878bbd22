/// The samples of a fragmented file (ISO 14496-12 section 8.8), collected as the tables of a plain one.
struct MP4FragmentedSamples {
    /// A larger `moof` box means a damaged file.
    static let largestBox = 16 << 20

    /// What a track's fragments do not say (section 8.8.3).
    private struct Defaults {
        var duration: UInt32
        var byteCount: UInt32
        var flags: UInt32
    }

    /// A track's samples so far.
    private struct Track {
        let defaults: Defaults
        var index = MP4SampleIndex.Track()
    }

    /// By the tracks' identifiers.
    private var tracks: [UInt32: Track] = [:]
    private let fileByteCount: Int
    private var sampleCount = 0
    /// A fragment is not complete.
    private(set) var isCutOff = false

    private static let isNotKeyframe: UInt32 = 0x1_0000

    /// - Parameter moov: the content of a `moov` box. Its own samples come first.
    /// - Returns: `nil` if the file is not fragmented.
    init?(parsing moov: [UInt8], fileByteCount: Int) throws(BitstreamError) {
        let boxes = MP4Boxes(try MP4Box.all(in: moov[...]))
        guard let extends = boxes["mvex"] else { return nil }
        self.fileByteCount = fileByteCount
        for box in try extends.children.all("trex") {
            var reader = box.reader
            _ = try reader.versionAndFlags()
            let track = try reader.bigEndian32()
            try reader.skip(4)
            tracks[track] = Track(
                defaults: Defaults(
                    duration: try reader.bigEndian32(), byteCount: try reader.bigEndian32(),
                    flags: try reader.bigEndian32()))
        }
        for box in boxes.all("trak") { try addOwnSamples(of: try box.children) }
    }

    /// The samples before the first fragment.
    private mutating func addOwnSamples(of track: MP4Boxes) throws(BitstreamError) {
        let identifier = try Self.identifier(of: track)
        let media = try track.required("mdia").children
        guard tracks[identifier] != nil, let tables = try media["minf"]?.children["stbl"]?.children,
            try Self.hasSamples(tables)
        else { return }
        let table = try MP4SampleTable(tables, fileByteCount: fileByteCount)
        try count(table.count)
        var samples = table.makeIterator()
        var next = samples.next()
        while let sample = next {
            next = samples.next()
            let end = next?.decodeTime ?? table.duration
            let content = MP4Fragment.Sample(
                byteCount: sample.byteCount, duration: UInt32(clamping: end - sample.decodeTime),
                compositionOffset: Int32(clamping: sample.time - sample.decodeTime), isKeyframe: sample.isKeyframe)
            let run = MP4Fragment.Run(track: .video, baseTime: sample.decodeTime, samples: [content])
            tracks[identifier]?.index.add(run, offset: sample.offset)
        }
    }

    private static func hasSamples(_ tables: MP4Boxes) throws(BitstreamError) -> Bool {
        guard var reader = tables["stsz"]?.reader else { return false }
        try reader.skip(8)
        return try reader.bigEndian32() > 0
    }

    private static func identifier(of track: MP4Boxes) throws(BitstreamError) -> UInt32 {
        var reader = try track.required("tkhd").reader
        try reader.skip(try reader.versionAndFlags() == 1 ? 16 : 8)
        return try reader.bigEndian32()
    }

    /// Every sample has a byte, so more samples than that mean damage.
    private mutating func count(_ more: Int) throws(BitstreamError) {
        sampleCount += more
        guard sampleCount <= min(fileByteCount, MP4SampleTable.largestCount) else {
            throw .invalid(structure: MP4Fragment.structure, field: "number of samples", value: sampleCount)
        }
    }

    /// The file ends inside a fragment.
    mutating func fragmentEnded() { isCutOff = true }

    /// - Parameters:
    ///   - moof: the box's content.
    ///   - offset: place of the box in the file.
    /// - Returns: false if the file ends before the samples, which are left out.
    mutating func add(_ moof: [UInt8], at offset: Int) throws(BitstreamError) -> Bool {
        var collected: [(UInt32, MP4Fragment.Run, offset: Int)] = []
        var dataEnd = offset
        for traf in MP4Boxes(try MP4Box.all(in: moof[...])).all("traf") {
            try read(try traf.children, moofOffset: offset, dataEnd: &dataEnd, into: &collected)
        }
        guard dataEnd <= fileByteCount else {
            isCutOff = true
            return false
        }
        for (track, run, place) in collected { tracks[track]?.index.add(run, offset: place) }
        return true
    }

    /// The header of a track's part of a fragment (section 8.8.7).
    private struct Header {
        let track: UInt32
        /// Where offsets of samples start.
        let base: Int
        let defaults: Defaults

        init(_ box: MP4Box, of tracks: [UInt32: Track], moofOffset: Int, dataEnd: Int) throws(BitstreamError) {
            var reader = box.reader
            let flags = try reader.bigEndian32()
            track = try reader.bigEndian32()
            guard var defaults = tracks[track]?.defaults else {
                throw .invalid(structure: MP4Fragment.structure, field: "track", value: Int(track))
            }
            var base = flags & 0x02_0000 != 0 ? moofOffset : dataEnd
            if flags & 1 != 0 {
                let place = try reader.bigEndian64()
                guard place < 1 << 60 else {
                    throw .invalid(structure: MP4Fragment.structure, field: "offset", value: Int(clamping: place))
                }
                base = Int(place)
            }
            if flags & 2 != 0 { try reader.skip(4) }
            if flags & 8 != 0 { defaults.duration = try reader.bigEndian32() }
            if flags & 0x10 != 0 { defaults.byteCount = try reader.bigEndian32() }
            if flags & 0x20 != 0 { defaults.flags = try reader.bigEndian32() }
            self.base = base
            self.defaults = defaults
        }
    }

    private mutating func read(
        _ boxes: MP4Boxes, moofOffset: Int, dataEnd: inout Int,
        into collected: inout [(UInt32, MP4Fragment.Run, offset: Int)]
    ) throws(BitstreamError) {
        let header = try Header(
            boxes.required("tfhd"), of: tracks, moofOffset: moofOffset, dataEnd: dataEnd)
        var time = collected.last { $0.0 == header.track }?.1.end ?? tracks[header.track]?.index.end ?? 0
        if var reader = boxes["tfdt"]?.reader {
            let start = try reader.number(version: try reader.versionAndFlags())
            guard start <= MP4SampleIndex.latestTime else {
                throw .invalid(structure: MP4Fragment.structure, field: "decode time", value: Int(clamping: start))
            }
            time = Int64(start)
        }
        var place = header.base
        for box in boxes.all("trun") {
            var run = MP4Fragment.Run(track: .video, baseTime: time)
            try read(box.reader, header, into: &run, place: &place)
            time = run.end
            guard time <= MP4SampleIndex.latestTime else {
                throw .invalid(structure: MP4Fragment.structure, field: "decode time", value: Int(time))
            }
            guard !run.samples.isEmpty else { continue }
            collected.append((header.track, run, offset: place))
            place += run.byteCount
        }
        dataEnd = max(dataEnd, place)
    }

    /// Samples that follow each other in the file (section 8.8.8).
    private mutating func read(
        _ box: ByteReader, _ header: Header, into run: inout MP4Fragment.Run, place: inout Int
    ) throws(BitstreamError) {
        var reader = box
        let fields = try reader.bigEndian32() & 0xFF_FFFF
        let sampleCount = Int(try reader.bigEndian32())
        if fields & 1 != 0 { place = header.base + Int(Int32(bitPattern: try reader.bigEndian32())) }
        guard place >= 0 else { throw .invalid(structure: MP4Fragment.structure, field: "offset", value: place) }
        var firstFlags = fields & 4 != 0 ? try reader.bigEndian32() : nil
        try count(sampleCount)
        for _ in 0..<sampleCount {
            let duration = fields & 0x100 != 0 ? try reader.bigEndian32() : header.defaults.duration
            let byteCount = fields & 0x200 != 0 ? try reader.bigEndian32() : header.defaults.byteCount
            let given = fields & 0x400 != 0 ? try reader.bigEndian32() : header.defaults.flags
            let offset = fields & 0x800 != 0 ? Int32(bitPattern: try reader.bigEndian32()) : 0
            guard (1...MP4SampleTable.largestSample).contains(Int(byteCount)) else {
                throw .invalid(structure: MP4Fragment.structure, field: "size of a sample", value: Int(byteCount))
            }
            run.samples.append(
                MP4Fragment.Sample(
                    byteCount: Int(byteCount), duration: duration, compositionOffset: offset,
                    isKeyframe: (firstFlags ?? given) & Self.isNotKeyframe == 0))
            firstFlags = nil
        }
    }

    /// A track's samples, as the reader of plain files gives them.
    /// - Parameter track: the boxes of a `trak`.
    func samples(of track: MP4Boxes, fileByteCount: Int) throws(BitstreamError) -> MP4SampleTable {
        let index = tracks[try Self.identifier(of: track)]?.index ?? MP4SampleIndex.Track()
        var writer = MP4BoxWriter()
        index.appendTables(allAreKeyframes: false, to: &writer)
        return try MP4SampleTable(
            MP4Boxes(try MP4Box.all(in: writer.bytes[...])), start: index.start, fileByteCount: fileByteCount)
    }
}
