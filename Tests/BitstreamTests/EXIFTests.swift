import Bitstream
import Media
import Testing

@Suite("EXIF") struct EXIFTests {
    /// Parses a segment: the values of the first directory and of the one it refers to, by tag.
    private static func read(_ segment: [UInt8]) throws -> [UInt16: Value] {
        try #require(segment.starts(with: Array("Exif\0\0MM".utf8)))
        let tiff = Array(segment.dropFirst(6))
        func number(_ offset: Int, _ count: Int) throws -> Int {
            try #require(offset >= 0 && offset + count <= tiff.count, "beyond the segment")
            return tiff[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        func directory(_ offset: Int) throws -> [UInt16: Value] {
            var values: [UInt16: Value] = [:]
            let count = try number(offset, 2)
            var lastTag = 0
            for entry in 0..<count {
                let place = offset + 2 + 12 * entry
                let (tag, type, length) = (try number(place, 2), try number(place + 2, 2), try number(place + 4, 4))
                #expect(tag > lastTag, "tags rise")
                lastTag = tag
                let size = try #require([2: 1, 3: 2, 4: 4, 5: 8, 7: 1][type])
                let start = length * size <= 4 ? place + 8 : try number(place + 8, 4)
                #expect(start % 2 == 0)
                switch type {
                case 2, 7:
                    try #require(start + length <= tiff.count)
                    values[UInt16(tag)] = .text(String(decoding: tiff[start..<start + length], as: UTF8.self))
                case 5: values[UInt16(tag)] = .rational(try number(start, 4), try number(start + 4, 4))
                default: values[UInt16(tag)] = .number(try number(start, size))
                }
            }
            #expect(try number(offset + 2 + 12 * count, 4) == 0, "no further directory")
            return values
        }
        let image = try directory(try number(4, 4))
        guard case .number(let offset)? = image[0x8769] else { return image }
        return image.merging(try directory(offset)) { first, _ in first }
    }

    private enum Value: Equatable {
        case text(String)
        case number(Int)
        case rational(Int, Int)
    }

    private static let time = CalendarTime(year: 2026, month: 3, day: 9, hour: 7, minute: 5, second: 1)

    @Test func containsEverythingKnown() throws {
        var exif = EXIF(size: FrameSize(width: 1920, height: 1080))
        exif.time = Self.time
        exif.model = "imx708_wide"
        exif.software = "Tallycam"
        exif.exposureTime = .microseconds(8333)
        exif.gain = 2.5
        let values = try Self.read(exif.segment)
        #expect(values[0x0110] == .text("imx708_wide\0"))
        #expect(values[0x0131] == .text("Tallycam\0"))
        #expect(values[0x0132] == .text("2026:03:09 07:05:01\0"))
        #expect(values[0x9003] == .text("2026:03:09 07:05:01\0"))
        #expect(values[0x9011] == .text("+00:00\0"))
        #expect(values[0x829A] == .rational(8333, 1_000_000))
        #expect(values[0x8827] == .number(250))
        #expect(values[0xA002] == .number(1920) && values[0xA003] == .number(1080))
        #expect(values[0x0112] == .number(1) && values[0x9000] == .text("0232"))
    }

    @Test func timeIsLocalWithItsOffset() throws {
        var exif = EXIF(size: FrameSize(width: 2, height: 2))
        exif.time = CalendarTime(secondsSince1970: 1_795_413_600, secondsFromUTC: -12600)
        let values = try Self.read(exif.segment)
        #expect(values[0x9003] == .text("2026:11:23 02:30:00\0") && values[0x9011] == .text("-03:30\0"))
    }

    @Test func omitsUnknownValues() throws {
        let values = try Self.read(EXIF(size: FrameSize(width: 2, height: 2)).segment)
        #expect(Set(values.keys) == [0x0112, 0x8769, 0x9000, 0xA001, 0xA002, 0xA003])
    }

    @Test func acceptsAnyTextFromADriver() throws {
        var exif = EXIF(size: FrameSize(width: 640, height: 480))
        exif.model = String(repeating: "é\u{1}x", count: 100_000)
        exif.exposureTime = .seconds(1_000_000)
        exif.gain = 1e300
        let values = try Self.read(exif.segment)
        // Only ASCII is allowed there, and a segment has at most 64 KiB.
        guard case .text(let model)? = values[0x0110] else { return #expect(Bool(false), "no model") }
        #expect(model.utf8.dropLast().allSatisfy { $0 == UInt8(ascii: "x") } && exif.segment.count < 1000)
        #expect(values[0x829A] == .rational(Int(UInt32.max), 1_000_000))
        #expect(values[0x8827] == .number(Int(UInt16.max)))
        exif.gain = .nan
        #expect(try Self.read(exif.segment)[0x8827] == nil)
    }
}
