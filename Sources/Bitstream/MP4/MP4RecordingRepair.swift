import Media

/// What a file that `MP4RecordingWriter` may have written contains.
public enum MP4RecordingCondition: Hashable, Sendable {
    /// It is complete.
    case finished
    /// It did not close. The steps finish it.
    case unfinished(MP4RecordingRepair)
    /// It did not close, and contains nothing that could be played.
    case empty
    /// It is another file, or its head is damaged. It must not be changed.
    case foreign(BitstreamError)
}

/// How to finish a file that did not close: with all its complete fragments.
public struct MP4RecordingRepair: Hashable, Sendable {
    public let steps: [MP4FileStep]
    public let frameCount: Int
    public let audioPacketCount: Int
    /// From the file's zero to the end of the longer track.
    public let duration: Duration
    /// Bytes behind the last complete fragment, which are cut off.
    public let lostByteCount: Int
}

/// Reads a recording from a power cut. Whatever the file contains, it reads at most `mostFragments`, keeps at most `mostSamples`
/// samples, and stops at the first box that is not exactly as `MP4RecordingWriter` writes it. Boxes are nested to a fixed depth.
struct MP4RecordingScan<Failure: Error> {
    /// 45 hours with two each second.
    private static var mostFragments: Int { 330_000 }
    /// Eight hours at 60 frames per second and their audio.
    private static var mostSamples: Int { 1 << 22 }
    /// Only the last fragment was not synchronized, so only it can be damaged, unless the medium has lied.
    private static var mostDamaged: Int { 8 }
    /// Head and `moof` boxes are read as a whole.
    private static var largestHead: Int { 1 << 20 }

    typealias Read = (_ offset: Int, _ count: Int) throws(Failure) -> [UInt8]

    private struct Found {
        let fragment: MP4Fragment
        let dataOffset: Int
        var end: Int { dataOffset + fragment.byteCount }
    }

    private let byteCount: Int
    private let read: Read
    /// The latest fragments; earlier ones are in the index.
    private var fragments: [Found] = []
    private var index = MP4SampleIndex()
    private var sampleCount = 0
    private var sequence: UInt32 = 0
    /// Where the fragments of the index end; 0 without fragments.
    private var end = 0

    private init(byteCount: Int, read: @escaping Read) {
        self.byteCount = byteCount
        self.read = read
    }

    /// A box that is in the file as a whole.
    private struct Box {
        let type: String
        let contentOffset: Int
        let contentByteCount: Int
        var end: Int { contentOffset + contentByteCount }
    }

    /// - Returns: `nil` if no complete box is there.
    private func box(at offset: Int) throws(Failure) -> Box? {
        guard offset >= 0, byteCount - offset >= 8 else { return nil }
        let bytes = try read(offset, min(MP4BoxHeader.longest, byteCount - offset))
        guard let header = try? MP4BoxHeader(parsing: bytes), let count = header.contentByteCount,
            count <= byteCount - offset - header.headerByteCount
        else { return nil }
        return Box(type: header.type, contentOffset: offset + header.headerByteCount, contentByteCount: count)
    }

    static func condition(byteCount: Int, read: @escaping Read) throws(Failure) -> MP4RecordingCondition {
        var scan = Self(byteCount: byteCount, read: read)
        return try scan.condition()
    }

    private mutating func condition() throws(Failure) -> MP4RecordingCondition {
        let type = MP4RecordingHeader.fileType
        let head = try read(0, min(byteCount, type.count + MP4RecordingWriter.placeholderByteCount))
        let foreign = BitstreamError.unsupported(
            structure: MP4Movie.structure, feature: "another layout than this program's recordings")
        // A power cut can leave zeros where the file system had not written the head yet.
        if head.allSatisfy({ $0 == 0 }) { return .empty }
        guard head.starts(with: type.prefix(head.count)) else { return .foreign(foreign) }
        guard head.count == type.count + MP4RecordingWriter.placeholderByteCount else { return .empty }
        let mark = String(decoding: head[type.count + 4..<type.count + 8], as: UTF8.self)
        if mark == "mdat", let media = try box(at: type.count), let index = try box(at: media.end),
            index.type == "moov",
            index.end == byteCount
        {
            return .finished
        }
        guard mark == "mdat" || mark == "free" else { return .foreign(foreign) }
        guard let moov = try box(at: head.count) else { return .empty }
        guard moov.type == "moov", moov.contentByteCount <= Self.largestHead else { return .foreign(foreign) }
        let bytes = try read(moov.contentOffset, moov.contentByteCount)
        let header: MP4RecordingHeader
        do throws(BitstreamError) {
            header = try MP4RecordingHeader(parsing: bytes)
        } catch {
            return .foreign(error)
        }
        try collect(from: moov.end, header.tracks)
        while let last = fragments.last, try !isWhole(last, header.tracks) { fragments.removeLast() }
        return repair(header)
    }

    /// Finds the fragments up to the first one that is not complete, or not the next one.
    private mutating func collect(from start: Int, _ tracks: MP4RecordedTracks) throws(Failure) {
        var offset = start
        var ends: [MP4RecordedTrack: Int64] = [:]
        for _ in 0..<Self.mostFragments {
            guard var moof = try box(at: offset) else { return }
            if moof.type == "prft" {
                guard let next = try box(at: moof.end) else { return }
                moof = next
            }
            guard moof.type == "moof", moof.contentByteCount <= Self.largestHead, let data = try box(at: moof.end),
                data.type == "mdat", data.contentOffset == moof.end + 8
            else { return }
            let bytes = try read(moof.contentOffset, moof.contentByteCount)
            guard let fragment = try? MP4Fragment(parsing: bytes, dataByteCount: data.contentByteCount),
                fragment.sequence == sequence + 1, follows(fragment, tracks, &ends)
            else { return }
            sampleCount += fragment.runs.reduce(0) { $0 + $1.samples.count }
            guard sampleCount <= Self.mostSamples else { return }
            sequence += 1
            fragments.append(Found(fragment: fragment, dataOffset: data.contentOffset))
            if fragments.count > Self.mostDamaged { keep(fragments.removeFirst()) }
            offset = data.end
        }
    }

    /// Whether each run is of a known track and starts after the one before.
    private func follows(
        _ fragment: MP4Fragment, _ tracks: MP4RecordedTracks, _ newest: inout [MP4RecordedTrack: Int64]
    ) -> Bool {
        for run in fragment.runs {
            guard tracks.all.contains(run.track), run.baseTime > newest[run.track] ?? -1,
                Duration.ofUnits(run.end, perSecond: tracks.timescale(run.track)) <= MP4Track.longest
            else { return false }
            newest[run.track] = run.end - Int64(run.samples.last?.duration ?? 0)
        }
        return true
    }

    private mutating func keep(_ found: Found) {
        index.add(found.fragment, dataOffset: found.dataOffset)
        end = found.end
    }

    /// After a power cut, a file can have the size of a fragment but not its contents. Whether the lengths of NAL units fill their
    /// samples, and no audio consists of zeros.
    private func isWhole(_ found: Found, _ tracks: MP4RecordedTracks) throws(Failure) -> Bool {
        let lengthSize = tracks.video?.nalUnitLengthSize ?? 4
        var offset = found.dataOffset
        for run in found.fragment.runs {
            for sample in run.samples {
                let bytes = try read(offset, sample.byteCount)
                let isWhole =
                    run.track == .video
                    ? Self.hasUnits(bytes, lengthSize: lengthSize) : bytes.isEmpty || bytes.contains { $0 != 0 }
                guard isWhole else { return false }
                offset += sample.byteCount
            }
        }
        return true
    }

    private static func hasUnits(_ bytes: [UInt8], lengthSize: Int) -> Bool {
        var reader = ByteReader(bytes, reading: MP4Fragment.structure)
        while reader.bytesLeft > 0 {
            guard let prefix = try? reader.slice(lengthSize) else { return false }
            let length = prefix.reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, (try? reader.skip(length)) != nil else { return false }
        }
        return true
    }

    private mutating func repair(_ header: MP4RecordingHeader) -> MP4RecordingCondition {
        for found in fragments { keep(found) }
        guard end > 0 else { return .empty }
        let ends = header.tracks.all.map {
            Duration.ofUnits(index[$0].end, perSecond: header.tracks.timescale($0))
        }
        let finish = MP4RecordingWriter.finish(header, index, byteCount: end)
        return .unfinished(
            MP4RecordingRepair(
                steps: (byteCount > end ? [.truncate(to: end)] : []) + finish, frameCount: index.video.sampleCount,
                audioPacketCount: index.audio.sampleCount, duration: ends.max() ?? .zero,
                lostByteCount: byteCount - end))
    }
}

extension MP4RecordingCondition {
    /// - Parameters:
    ///   - byteCount: size of the file.
    ///   - read: returns these bytes, all of which are in the file.
    public init<Failure: Error>(
        byteCount: Int, read: @escaping (_ offset: Int, _ count: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        self = try MP4RecordingScan<Failure>.condition(byteCount: byteCount, read: read)
    }
}
