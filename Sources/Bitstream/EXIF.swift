import Media

/// A JPEG's metadata: the APP1 segment of Exif 2.32, a small TIFF file with two directories.
public struct EXIF: Hashable, Sendable {
    /// When the snapshot was taken; `nil` if the time of day is unknown.
    public var time: CalendarTime?
    /// The camera's name from its driver.
    public var model: String?
    public var software: String?
    public var exposureTime: Duration?
    /// The sensor's gain; 1 for no amplification. Written as a sensitivity, by multiplying it with ISO 100, the assumed
    /// sensitivity without amplification.
    public var gain: Double?
    public var size: FrameSize

    public init(size: FrameSize) { self.size = size }

    /// The contents of a JPEG's APP1 marker, after the segment's length.
    public var segment: [UInt8] { Array("Exif\0\0".utf8) + tiff }

    /// A segment has at most 64 KiB, and the texts are only names, so longer ones are cut off.
    private static let longestText = 200

    /// Both directories, each followed by the values that do not fit in its entries.
    private var tiff: [UInt8] {
        // "MM" means big-endian; the first directory starts after these eight bytes.
        let header: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
        let placeholder = TIFFDirectory(imageEntries + [.long(tag: .exifDirectory, 0)])
        let exifOffset = header.count + placeholder.byteCount
        let image = TIFFDirectory(imageEntries + [.long(tag: .exifDirectory, UInt32(clamping: exifOffset))])
        return header + image.bytes(at: header.count) + TIFFDirectory(exifEntries).bytes(at: exifOffset)
    }

    private var imageEntries: [TIFFDirectory.Entry] {
        var entries: [TIFFDirectory.Entry] = []
        if let model { entries.append(.text(tag: .model, String(model.prefix(Self.longestText)))) }
        // Rows from the top, columns from the left: the frame has already been rotated.
        entries.append(.short(tag: .orientation, 1))
        if let software { entries.append(.text(tag: .software, String(software.prefix(Self.longestText)))) }
        if let time { entries.append(.text(tag: .dateTime, time.exifText)) }
        return entries
    }

    private var exifEntries: [TIFFDirectory.Entry] {
        var entries: [TIFFDirectory.Entry] = []
        if let exposureTime {
            let microseconds = exposureTime.wholeNanoseconds / 1000
            entries.append(.rational(tag: .exposureTime, UInt32(clamping: microseconds), 1_000_000))
        }
        if let gain, gain > 0, gain.isFinite {
            entries.append(.short(tag: .sensitivity, UInt16(min((gain * 100).rounded(), Double(UInt16.max)))))
        }
        entries.append(.undefined(tag: .version, Array("0232".utf8)))
        if let time {
            entries.append(.text(tag: .dateTimeOriginal, time.exifText))
            entries.append(.text(tag: .offsetTimeOriginal, time.offsetText))
        }
        // sRGB, the default for JPEG files.
        entries.append(.short(tag: .colorSpace, 1))
        entries.append(.long(tag: .pixelWidth, UInt32(clamping: size.width)))
        entries.append(.long(tag: .pixelHeight, UInt32(clamping: size.height)))
        return entries
    }
}

extension CalendarTime {
    /// "2026:11:23 02:20:11".
    fileprivate var exifText: String {
        "\(digits(year, 4)):\(digits(month, 2)):\(digits(day, 2)) \(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))"
    }

    private func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

/// One directory of a TIFF file: entries of twelve bytes, then the values longer than four bytes.
struct TIFFDirectory {
    enum Tag: UInt16 {
        case model = 0x0110
        case orientation = 0x0112
        case software = 0x0131
        case dateTime = 0x0132
        case exposureTime = 0x829A
        case exifDirectory = 0x8769
        case sensitivity = 0x8827
        case version = 0x9000
        case dateTimeOriginal = 0x9003
        case offsetTimeOriginal = 0x9011
        case colorSpace = 0xA001
        case pixelWidth = 0xA002
        case pixelHeight = 0xA003
    }

    struct Entry {
        let tag: Tag
        let type: UInt16
        /// Number of values rather than bytes.
        let count: Int
        let value: [UInt8]

        static func text(tag: Tag, _ text: String) -> Entry {
            // These fields allow only ASCII. The last byte is zero.
            let bytes = text.utf8.filter { (0x20...0x7E).contains($0) } + [0]
            return Entry(tag: tag, type: 2, count: bytes.count, value: bytes)
        }

        static func short(tag: Tag, _ number: UInt16) -> Entry {
            Entry(tag: tag, type: 3, count: 1, value: bigEndian(number))
        }

        static func long(tag: Tag, _ number: UInt32) -> Entry {
            Entry(tag: tag, type: 4, count: 1, value: bigEndian(number))
        }

        static func rational(tag: Tag, _ numerator: UInt32, _ denominator: UInt32) -> Entry {
            Entry(tag: tag, type: 5, count: 1, value: bigEndian(numerator) + bigEndian(denominator))
        }

        static func undefined(tag: Tag, _ bytes: [UInt8]) -> Entry {
            Entry(tag: tag, type: 7, count: bytes.count, value: bytes)
        }
    }

    private let entries: [Entry]

    /// - Parameter entries: in any order; TIFF requires ascending tags.
    init(_ entries: [Entry]) { self.entries = entries.sorted { $0.tag.rawValue < $1.tag.rawValue } }

    /// Size of the count, the entries and the offset of the next directory.
    private var headByteCount: Int { 2 + 12 * entries.count + 4 }

    var byteCount: Int { headByteCount + entries.reduce(0) { $0 + Self.outside($1.value).count } }

    /// - Parameter offset: the directory's offset from the start of the file.
    func bytes(at offset: Int) -> [UInt8] {
        var head = bigEndian(UInt16(clamping: entries.count))
        var tail: [UInt8] = []
        for entry in entries {
            head += bigEndian(entry.tag.rawValue) + bigEndian(entry.type) + bigEndian(UInt32(clamping: entry.count))
            let outside = Self.outside(entry.value)
            let place = UInt32(clamping: offset + headByteCount + tail.count)
            head += outside.isEmpty ? entry.value + Array(repeating: 0, count: 4 - entry.value.count) : bigEndian(place)
            tail += outside
        }
        // No directory follows.
        return head + bigEndian(UInt32(0)) + tail
    }

    /// The value if it does not fit in the entry, padded to an even length.
    private static func outside(_ value: [UInt8]) -> [UInt8] {
        guard value.count > 4 else { return [] }
        return value.count % 2 == 0 ? value : value + [0]
    }
}

private func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    (0..<Number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}
