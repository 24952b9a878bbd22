/// Why the contents of an MP4 file cannot be read.
public enum MP4FileProblem<Failure: Error>: Error {
    case unreadable(Failure)
    case damaged(BitstreamError)
    /// There is no table of contents: the file was cut off, or is still being written.
    case unfinished
}

extension MP4FileProblem: Sendable where Failure: Sendable {}

extension MP4Movie {
    /// More boxes mean damage: a day with a fragment each second has fewer.
    private static var mostBoxes: Int { 1_000_000 }
    /// In a plain file, they come before the table of contents.
    private static var mostLeadingBoxes: Int { 1000 }

    /// The contents of a plain or fragmented file. Of a fragmented file, all complete fragments count, even if it is still
    /// being written.
    /// - Parameters:
    ///   - byteCount: size of the file.
    ///   - read: returns these bytes, all of which are in the file.
    public init<Failure: Error>(
        byteCount: Int, read: (_ offset: Int, _ count: Int) throws(Failure) -> [UInt8]
    ) throws(MP4FileProblem<Failure>) {
        var scan = MP4FileScan(byteCount: byteCount)
        var offset = 0
        for number in 0..<Self.mostBoxes where byteCount - offset >= 8 {
            guard number < Self.mostLeadingBoxes || scan.fragments != nil else { break }
            let bytes = try Self.bytes(offset, min(MP4BoxHeader.longest, byteCount - offset), read)
            let box: MP4FileScan.Box
            do throws(BitstreamError) {
                box = try scan.box(bytes, at: offset)
            } catch {
                // Behind the last fragment, a power cut leaves anything.
                guard scan.fragments != nil else { throw .damaged(error) }
                scan.fragments?.fragmentEnded()
                break
            }
            offset = box.end
            switch box.kind {
            case .other: continue
            case .incomplete:
                guard scan.fragments != nil else { throw .unfinished }
                scan.fragments?.fragmentEnded()
            case .contents, .fragment:
                let content = try Self.bytes(box.contentOffset, box.end - box.contentOffset, read)
                do throws(BitstreamError) {
                    if try scan.take(box, content) { continue }
                } catch {
                    throw .damaged(error)
                }
            }
            break
        }
        guard let moov = scan.moov else { throw .unfinished }
        do throws(BitstreamError) {
            self = try MP4Movie(parsing: moov, fragments: scan.fragments, fileByteCount: byteCount)
        } catch {
            throw .damaged(error)
        }
    }

    private static func bytes<Failure: Error>(
        _ offset: Int, _ count: Int, _ read: (Int, Int) throws(Failure) -> [UInt8]
    ) throws(MP4FileProblem<Failure>) -> [UInt8] {
        do throws(Failure) {
            return try read(offset, count)
        } catch {
            throw .unreadable(error)
        }
    }
}

/// What a file's boxes have told so far.
private struct MP4FileScan {
    struct Box {
        enum Kind {
            case contents, fragment, other
            /// The file ends inside it.
            case incomplete
        }

        let kind: Kind
        let offset: Int
        let contentOffset: Int
        let end: Int
    }

    let byteCount: Int
    var moov: [UInt8]?
    var fragments: MP4FragmentedSamples?

    /// - Parameter bytes: the box's first ones.
    func box(_ bytes: [UInt8], at offset: Int) throws(BitstreamError) -> Box {
        let header = try MP4BoxHeader(parsing: bytes)
        let contentOffset = offset + header.headerByteCount
        let rest = max(0, byteCount - contentOffset)
        let count = header.contentByteCount ?? rest
        var kind: Box.Kind =
            switch header.type {
            // A recording whose end was cut has a second one.
            case "moov": moov == nil ? .contents : .other
            case "moof": .fragment
            default: .other
            }
        if count > rest { kind = .incomplete }
        let largest = kind == .contents ? MP4Movie.largestBox : MP4FragmentedSamples.largestBox
        guard kind == .other || kind == .incomplete || count <= largest else {
            throw .invalid(structure: MP4Movie.structure, field: "size of \(header.type)", value: count)
        }
        guard kind != .fragment || fragments != nil else {
            throw .unsupported(structure: MP4Movie.structure, feature: "fragments before their description")
        }
        return Box(kind: kind, offset: offset, contentOffset: contentOffset, end: contentOffset + min(count, rest))
    }

    /// - Returns: whether more boxes matter.
    mutating func take(_ box: Box, _ content: [UInt8]) throws(BitstreamError) -> Bool {
        guard box.kind == .contents else { return try fragments?.add(content, at: box.offset) ?? false }
        moov = content
        fragments = try MP4FragmentedSamples(parsing: content, fileByteCount: byteCount)
        return fragments != nil
    }
}
