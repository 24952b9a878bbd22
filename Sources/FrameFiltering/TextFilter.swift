import Filters
import Glibc
import Media
// Gives access to the standard library's string normalization. The public API is in Foundation, which adds many megabytes.
@_spi(_Unicode) import Swift
import TimeZones

/// Text lines, drawn when they change and blended over each frame.
final class TextFilter: FrameFilter {
    let font: FontFile
    private let setting: FilterSetting
    private let template: TextTemplate?
    private var format: FrameFormat?
    private var renderer: TextRenderer?
    private var overlay: Overlay?
    /// The text that the overlay shows, and the fields it was made from.
    private var shown: (text: String, fields: TextFields)?

    init(_ setting: FilterSetting, _ font: FontFile) {
        self.setting = setting
        self.font = font
        template = setting.text
    }

    var isIdentity: Bool { setting.number(.opacity) == 0 }

    func prepare(for format: FrameFormat) {
        self.format = format
        shown = nil
        overlay = nil
        let lineHeight = setting.number(.size) * Double(format.size.height)
        let glyphs = GlyphCache(font, lineHeight: lineHeight, outline: setting.number(.outline) * lineHeight)
        renderer = glyphs.map {
            TextRenderer(
                $0,
                TextRenderer.Style(
                    color: setting.color(.color), outlineColor: setting.color(.outlineColor),
                    background: setting.color(.background), alignment: setting.position.x))
        }
    }

    func startFrame(_ fields: TextFields) {
        guard let template, let format, let renderer else { return }
        let relevant = template.relevant(fields)
        guard relevant != shown?.fields else { return }
        let expanded = template.expanded(fields) { LocalTime.text($0, at: fields.secondsSince1970, fields.offset) }
        // Fonts have a letter and its marks as one character.
        let text = String(String.UnicodeScalarView(expanded._nfc))
        if text != shown?.text {
            overlay = renderer.render(text, limit: format.size).map { pixels in
                let corner = setting.position.corner(of: pixels.size, in: format.size, margin: setting.number(.margin))
                return Overlay(pixels, at: corner, opacity: setting.number(.opacity), in: format)
            }
        }
        shown = (text, relevant)
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) { overlay?.blend(rows: rows, into: planes) }
}

/// Formats times as clocks in a time zone show them.
private enum LocalTime {
    /// Room for a text full of `%c`, the longest conversion, with 24 bytes each. With less room, strftime writes nothing.
    private static let mostBytes = TextTemplate.longestSource / 2 * 32

    /// - Parameter format: for strftime.
    static func text(_ format: String, at seconds: Int64, _ offset: UTCOffset) -> String {
        var parts = parts(of: CalendarTime(secondsSince1970: seconds, secondsFromUTC: offset.seconds))
        parts.tm_isdst = offset.isDaylightSaving ? 1 : 0
        let format = withSeconds(format, seconds)
        return offset.abbreviation.withCString { abbreviation in
            parts.tm_zone = abbreviation
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: mostBytes) { buffer in
                guard let text = buffer.baseAddress else { return "" }
                let count = strftime(text, mostBytes, format, &parts)
                return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
            }
        }
    }

    private static func parts(of time: CalendarTime) -> tm {
        var parts = tm()
        parts.tm_year = Int32(clamping: time.year - 1900)
        parts.tm_mon = Int32(time.month - 1)
        parts.tm_mday = Int32(time.day)
        parts.tm_hour = Int32(time.hour)
        parts.tm_min = Int32(time.minute)
        parts.tm_sec = Int32(time.second)
        parts.tm_wday = Int32(time.weekday)
        parts.tm_yday = Int32(time.dayOfYear)
        parts.tm_gmtoff = time.secondsFromUTC
        return parts
    }

    /// strftime computes `%s` with the computer's own time zone.
    private static func withSeconds(_ format: String, _ seconds: Int64) -> String {
        var result = ""
        var isConversion = false
        for scalar in format.unicodeScalars {
            if isConversion, scalar == "s" {
                result.unicodeScalars.removeLast()
                result += "\(seconds)"
            } else {
                result.unicodeScalars.append(scalar)
            }
            isConversion = !isConversion && scalar == "%"
        }
        return result
    }
}
