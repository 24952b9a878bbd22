import DevicePorts
import Filters
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Testing
import TimeZones

@testable import FrameFiltering

@Suite struct TextFilterTests {
    private let size = FrameSize(width: 320, height: 240)
    /// 2026-11-23 06:00:00 UTC.
    private static let morning: Int64 = 1_795_413_600

    private func make(_ text: String) throws -> FilterPass {
        FilterPass(try LoadedFilters(FilterChain(parsing: [text])))
    }

    private func shown(
        _ pass: FilterPass, at seconds: Int64 = morning, offset: UTCOffset = .utc, frame number: Int = 0
    ) throws -> FrameInMemory {
        var frame = FrameInMemory(.nv12, size, y: 16, u: 128, v: 128)
        var fields = TextFields()
        fields.secondsSince1970 = seconds
        fields.offset = offset
        fields.frame = number
        try frame.apply(pass, .bt601, fields)
        return frame
    }

    /// The smallest rectangle that contains everything brighter than black.
    private struct Extent: Equatable {
        let columns: ClosedRange<Int>
        let rows: ClosedRange<Int>
    }

    private func extent(_ text: String) throws -> Extent? {
        let frame = try shown(make(text))
        let places = (0..<size.pixelCount).filter { frame.bytes[$0] > 40 }
        let columns = places.map { $0 % size.width }
        let rows = places.map { $0 / size.width }
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
            return nil
        }
        return Extent(columns: left...right, rows: top...bottom)
    }

    @Test func textIsPlacedAsConfigured() throws {
        let corner = try #require(try extent("text,text=Ay,position=bottom-right,size=0.1"))
        #expect(corner.columns.upperBound < 320 - 7 && corner.columns.upperBound > 320 - 20)
        #expect(corner.rows.upperBound < 240 - 7 && corner.rows.upperBound > 240 - 20)
        #expect((14...30).contains(corner.rows.count) && (14...40).contains(corner.columns.count))
        let top = try #require(try extent("text,text=Ay,position=0,0,size=0.1,outline=0"))
        #expect(top.columns.lowerBound < 3 && top.rows.lowerBound < 10)
        let large = try #require(try extent("text,text=Ay,position=0,0,size=0.2,outline=0"))
        #expect(abs(large.rows.count - 2 * top.rows.count) <= 3)
        let lines = try #require(try extent("text,text=A\\nA\\nA,position=0,0,size=0.1"))
        #expect(abs(lines.rows.count - top.rows.count - 48) <= 8)
    }

    @Test func colorsMatchTheSetting() throws {
        let frame = try shown(
            make("text,text=■,color=red,outline=0,position=0.5,0.5,size=0.5,background=#0000ff,opacity=1"))
        // The middle belongs to the square; the background surrounds it.
        #expect(frame.luma(160, 134) == 81 && frame.chroma(80, 67) == [90, 240])
        let blue = frame.bytes.prefix(size.pixelCount).count { $0 == 41 }
        #expect(blue > 1000)
        let outlined = try shown(
            make("text,text=■,color=red,outline=0.1,outline-color=#ffffff,position=0.5,0.5,size=0.4"))
        #expect(outlined.bytes.prefix(size.pixelCount).contains(235))
    }

    @Test func separateLettersAndMarksAreOneGlyph() throws {
        let composed = try shown(make("text,text=\u{E9}\u{17D},position=0,0,size=0.2")).bytes
        #expect(try shown(make("text,text=e\u{301}Z\u{30C},position=0,0,size=0.2")).bytes == composed)
    }

    @Test(arguments: [
        ("{time} {date}", "23:30:00 2026-11-22"), ("{%Z %z}", "ABC -0630"), ("{%a %j %u}", "Sun 326 7"),
        ("{%s %%s}", "1795413600 %s"),
    ])
    func timeIsShownInTheZone(template: String, text: String) throws {
        let west = UTCOffset(seconds: -23400, abbreviation: "ABC")
        let frame = try shown(make("text,text=\(template),size=0.1,position=0,0"), offset: west)
        #expect(try frame.bytes == shown(make("text,text=\(text),size=0.1,position=0,0")).bytes)
    }

    @Test func changedOffsetShowsWithTheNextFrame() throws {
        let pass = try make("text,text={time},size=0.1,position=0,0")
        let summer = UTCOffset(seconds: 3600, abbreviation: "CEST", isDaylightSaving: true)
        let frames = try [UTCOffset.utc, summer, .utc].map { try shown(pass, offset: $0).bytes }
        #expect(frames[0] != frames[1] && frames[0] == frames[2])
    }

    @Test func manyTimeFieldsAreShown() throws {
        #expect(try extent("text,text={\(String(repeating: "%c", count: 126))},size=0.1,position=0,0") != nil)
    }

    @Test func europeanScriptsHaveGlyphs() throws {
        let missing = try shown(make("text,text=漢,position=0,0,size=0.2")).bytes
        var seen: Set<[UInt8]> = [missing]
        for letter in ["A", "é", "Ž", "ß", "Ω", "ή", "Ж", "ї", "ẑ", "€", "→", "●"] {
            #expect(
                seen.insert(try shown(make("text,text=\(letter),position=0,0,size=0.2")).bytes).inserted, "\(letter)")
        }
        // A character that the font lacks appears as its box, which is always the same.
        #expect(try shown(make("text,text=字,position=0,0,size=0.2")).bytes == missing)
    }

    @Test func clockFollowsTheFrames() throws {
        let pass = try make("text,text={%s},position=0,0,size=0.1")
        let first = try shown(pass)
        #expect(try shown(pass).bytes == first.bytes)
        let later = try shown(pass, at: Self.morning + 1)
        #expect(later.bytes != first.bytes)
        let same = try shown(self.make("text,text=\(Self.morning),position=0,0,size=0.1"))
        #expect(same.bytes == first.bytes)
        #expect(try shown(pass).bytes == first.bytes)
    }

    @Test func textFollowsTheFrameSize() throws {
        let pass = try make("text,text=Hg,position=bottom-right")
        let first = try shown(pass)
        var large = FrameInMemory(.i420, FrameSize(width: 640, height: 480), y: 16, u: 128, v: 128)
        try large.apply(pass, .bt601)
        #expect(large.bytes.prefix(640 * 480).contains { $0 > 200 })
        #expect(try shown(pass).bytes == first.bytes)
        var tiny = FrameInMemory(.i420, FrameSize(width: 2, height: 2), y: 16, u: 128, v: 128)
        try tiny.apply(pass, .bt601)
    }

    @Test func textWiderThanTheFrameIsCutOff() throws {
        let long = String(repeating: "W", count: 200)
        for position in ["left", "center", "bottom-right"] {
            let shown = try #require(try extent("text,text=\(long),position=\(position),size=0.5"))
            #expect(shown.columns.upperBound <= 319 && shown.rows.upperBound <= 239)
        }
        #expect(try extent(#"text,text=" ""#) == nil && extent("text,text=\\n\\n") == nil)
    }

    @Test func fontsFromFilesAreReadAndChecked() throws {
        let directory = try TemporaryDirectory()
        let builtIn = try readFile("/usr/share/tallycam/font.ttf", limit: 1 << 20)
        try replaceFile("\(directory.path)/good.ttf", with: builtIn)
        let file = try shown(make("text,text=Ag,font=\(directory.path)/good.ttf"))
        let own = try shown(make("text,text=Ag"))
        #expect(file.bytes == own.bytes)
        let broken: [[UInt8]] = [
            [], Array("no font at all".utf8), Array(builtIn.prefix(200)), Array(builtIn.dropFirst(1)),
        ]
        for bytes in broken {
            try replaceFile("\(directory.path)/bad.ttf", with: bytes)
            do throws(FilteringError) {
                let chain = try? FilterChain(parsing: ["text,text=x,font=\(directory.path)/bad.ttf"])
                _ = try LoadedFilters(chain ?? FilterChain())
                Issue.record("\(bytes.count) bytes are a font")
            } catch {
                guard case .unusableFont(FilterID(.text), _, _) = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
        #expect(throws: FilteringError.self) {
            try LoadedFilters(FilterChain(parsing: ["text,text=x,font=\(directory.path)/none.ttf"]))
        }
    }

    /// Fonts with Chinese, Japanese and Korean letters often come as collections (ISO 14496-22).
    @Test func firstFontOfACollectionIsUsed() throws {
        var font = try readFile("/usr/share/tallycam/font.ttf", limit: 1 << 20)
        // A collection of one font: its header has 16 bytes, and tables keep their positions in the whole file.
        let header: [UInt8] = Array("ttcf".utf8) + [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16]
        let tableCount = Int(font[4]) << 8 | Int(font[5])
        for place in (0..<tableCount).map({ 12 + 16 * $0 + 8 }) {
            let offset = font[place..<place + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) } + UInt32(header.count)
            for byte in 0..<4 { font[place + byte] = UInt8(truncatingIfNeeded: offset >> UInt32(24 - 8 * byte)) }
        }
        let directory = try TemporaryDirectory()
        try replaceFile("\(directory.path)/fonts.ttc", with: header + font)
        let collection = try shown(make("text,text=Ag,font=\(directory.path)/fonts.ttc"))
        #expect(try collection.bytes == shown(make("text,text=Ag")).bytes)
    }

    /// Glyphs with invalid outlines are skipped, and nothing is read beyond the file.
    @Test func fontWithBrokenGlyphsDrawsTheOthers() throws {
        var bytes = try readFile("/usr/share/tallycam/font.ttf", limit: 1 << 20)
        for place in stride(from: bytes.count / 3, to: bytes.count, by: 7) { bytes[place] ^= 0x5A }
        let directory = try TemporaryDirectory()
        try replaceFile("\(directory.path)/odd.ttf", with: bytes)
        guard
            let filters = try? LoadedFilters(
                FilterChain(parsing: ["text,text=The quick brown fox ΩЖ,font=\(directory.path)/odd.ttf"]))
        else { return }
        _ = try shown(FilterPass(filters))
    }
}
