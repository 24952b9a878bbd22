import Media
import Testing

@testable import Filters

@Suite struct TextTemplateTests {
    private var fields: TextFields {
        var fields = TextFields()
        fields.secondsSince1970 = 1_000_000
        fields.name = "studio\u{7}\ncam"
        fields.bitrate = Bitrate(bitsPerSecond: 1_234_567)
        fields.quality = "High1"
        fields.frame = 42
        return fields
    }

    private func expanded(_ text: String) throws -> String {
        try TextTemplate.parsed(text).get().expanded(fields) { "<\($0)>" }
    }

    @Test(arguments: [
        ("Studio {time}", "Studio <%H:%M:%S>"), ("{DATE} {frame}", "<%Y-%m-%d> 42"),
        ("{bitrate} {quality}", "1234 kbit/s High1"), ("{%A, %d.%m.}", "<%A, %d.%m.>"), ("100 %", "100 %"),
        ("{{name}} {name}", "{name} studiocam"), (#"a\nb\\n"#, "a\nb\\n"), ("a\nb", "a\nb"), ("a } b", "a } b"),
        ("Ελληνικά Кириллица 漢字", "Ελληνικά Кириллица 漢字"), ("", ""), ("{%%}", "<%%>"),
    ])
    func fieldsAreFilledIn(text: String, expected: String) throws { #expect(try expanded(text) == expected) }

    @Test(arguments: [
        ("{tiem}", "text with the fields {time}"), ("{", "text with each field closed by }, or {{ for a brace"),
        ("{}", "text with the fields {time}, {date}, {name}, {bitrate}, {quality}, {frame}"),
        ("{%}", "text with the fields {time}, {date}, {name}, {bitrate}, {quality}, {frame}"),
        ("{%9999d}", "text in which each % precedes one of strftime's letters"),
        ("{%n}", "text in which each % precedes one of strftime's letters"),
        ("{%Ec}", "text in which each % precedes one of strftime's letters"),
        ("a\u{7}b", "text without control characters"),
        ("a\tb", "text without control characters"), ("a\u{85}b", "text without control characters"),
        (String(repeating: "x", count: 257), "at most 256 characters"),
        (String(repeating: "x", count: 10_000), "at most 256 characters"),
        (String(repeating: "\\n", count: 8), "at most 8 lines"),
    ])
    func invalidTextIsRefused(text: String, rule: String) {
        do throws(TextFault) {
            let template = try TextTemplate.parsed(text).get()
            Issue.record("\(template)")
        } catch {
            #expect(error.description == rule)
        }
    }

    @Test func expandedTextIsLimited() throws {
        let template = try TextTemplate.parsed(String(repeating: "{%c}", count: 64)).get()
        let text = template.expanded(fields) { _ in String(repeating: "y", count: 10_000) }
        #expect(text.unicodeScalars.count == TextTemplate.longestExpansion)
    }

    @Test func onlyUsedFieldsChangeTheText() throws {
        let clock = try TextTemplate.parsed("{time}").get()
        var later = fields
        later.frame += 1
        later.bitrate = Bitrate(bitsPerSecond: 1)
        #expect(clock.relevant(later) == clock.relevant(fields))
        later.secondsSince1970 += 1
        #expect(clock.relevant(later) != clock.relevant(fields))
        let title = try TextTemplate.parsed("Studio").get()
        #expect(title.relevant(later) == title.relevant(fields))
        for text in ["{name}", "{bitrate}", "{quality}", "{frame}", "{date}", "{%j}"] {
            #expect(try TextTemplate.parsed(text).get().relevant(fields) != title.relevant(fields), "\(text)")
        }
    }
}
