import Bitstream
import RTMP

/// Duration and size of a recording, stored in `onMetaData`, its first tag (FLV 10.1 annex E.5).
struct RecordingTotals {
    /// In milliseconds, from the first audio or video tag.
    private struct Track {
        var last: UInt32
        var position: Int64
        /// Distance to the previous tag.
        var step: Int64 = 0
    }

    private var first: UInt32?
    private var tracks: [FLVTag.Kind: Track] = [:]

    mutating func add(_ tag: FLVTag) {
        guard tag.kind != .script, !tag.isSequenceHeader else { return }
        let start = first ?? tag.timestamp
        first = start
        guard let track = tracks[tag.kind] else {
            let position = Int64(Int32(bitPattern: tag.timestamp &- start))
            tracks[tag.kind] = Track(last: tag.timestamp, position: position)
            return
        }
        // Serial arithmetic, because timestamps wrap at 2^32.
        let step = Int64(Int32(bitPattern: tag.timestamp &- track.last))
        guard step > 0 else { return }
        tracks[tag.kind] = Track(last: tag.timestamp, position: track.position + step, step: step)
    }

    /// In seconds. The last frame or packet counts as long as the one before.
    private var duration: Double {
        Double(tracks.values.map { $0.position + $0.step }.max() ?? 0) / 1000
    }

    /// - Returns: the numbers with their offsets in the file.
    func numbers(fileSize: Int) -> [(offset: Int, number: Double)] {
        [(Self.durationOffset, duration), (Self.fileSizeOffset, Double(fileSize))]
    }

    /// The file's header, the tag's header, the name "onMetaData", the array's marker and count, the key, the marker.
    private static let durationOffset = 13 + 11 + 13 + 5 + (2 + 8) + 1
    private static let fileSizeOffset = durationOffset + 8 + (2 + 8) + 1

    /// - Returns: the contents of a metadata tag; `nil` for any other tag.
    static func metadata(in tag: FLVTag) -> [AMF0Property]? {
        guard tag.kind == .script else { return nil }
        var decoder = AMF0Decoder(Array(tag.body))
        guard (try? decoder.decodeValue())?.stringValue == "onMetaData" else { return nil }
        return (try? decoder.decodeValue())?.properties
    }

    /// The body of a metadata tag, without the publisher's own duration and size.
    static func body(_ properties: [AMF0Property], withTotals: Bool) -> [UInt8] {
        let totals = withTotals ? [AMF0Property("duration", .number(0)), AMF0Property("filesize", .number(0))] : []
        let others = properties.filter { !["duration", "filesize"].contains($0.name.lowercased()) }
        var body: [UInt8] = []
        body.appendAMF0(.string("onMetaData"))
        body.appendAMF0(.ecmaArray(totals + others))
        return body
    }
}
