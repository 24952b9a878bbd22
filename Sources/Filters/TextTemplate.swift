import Media
import TimeZones

/// Text with fields that are filled in for each frame: `{time}`, `{date}`, `{name}`, `{bitrate}`, `{quality}`,
/// `{frame}`, and formats of strftime such as `{%H:%M}`. `{{` and `}}` are braces, `\n` starts a new line, `\\` is a
/// backslash.
public struct TextTemplate: Hashable, Sendable {
    public enum Field: String, CaseIterable, Sendable {
        case time, date, name, bitrate, quality, frame
    }

    /// In characters (Unicode scalars).
    public static let longestSource = 256
    public static let mostLines = 8
    /// Length of the expanded text. The rest is cut off.
    public static let longestExpansion = 512

    enum Part: Hashable, Sendable {
        case literal(String)
        case field(Field)
        /// A format for strftime.
        case moment(String)
    }

    public let source: String
    let parts: [Part]
    let usedFields: Set<Field>
    /// Whether the text changes every second.
    public let showsTime: Bool

    private init(_ source: String, _ parts: [Part]) {
        self.source = source
        self.parts = parts
        usedFields = Set(parts.compactMap { if case .field(let field) = $0 { field } else { nil } })
        showsTime = parts.contains { if case .moment = $0 { true } else { false } }
    }

    /// - Parameters:
    ///   - fields: the frame's values.
    ///   - moment: formats the time at `fields.secondsSince1970` and `fields.offset` with strftime.
    /// - Returns: lines separated by `\n`, without other control characters.
    public func expanded(_ fields: TextFields, moment: (String) -> String) -> String {
        var result = String.UnicodeScalarView()
        for part in parts {
            switch part {
            case .literal(let text): result.append(contentsOf: text.unicodeScalars)
            case .field(let field): Self.append(fields.text(of: field), to: &result)
            case .moment(let format): Self.append(moment(format), to: &result)
            }
        }
        return String(result.count > Self.longestExpansion ? .init(result.prefix(Self.longestExpansion)) : result)
    }

    /// Values from outside must not start new lines.
    private static func append(_ text: String, to result: inout String.UnicodeScalarView) {
        result.append(contentsOf: text.unicodeScalars.prefix(longestExpansion).filter { !$0.isControl })
    }

    /// The fields that this template uses. Equal results expand to the same text.
    public func relevant(_ fields: TextFields) -> TextFields {
        var relevant = TextFields()
        if showsTime { (relevant.secondsSince1970, relevant.offset) = (fields.secondsSince1970, fields.offset) }
        if usedFields.contains(.name) { relevant.name = fields.name }
        if usedFields.contains(.bitrate) { relevant.bitrate = fields.bitrate }
        if usedFields.contains(.quality) { relevant.quality = fields.quality }
        if usedFields.contains(.frame) { relevant.frame = fields.frame }
        return relevant
    }
}

/// A frame's values for text.
public struct TextFields: Hashable, Sendable {
    /// Capture time of the frame, in UNIX seconds.
    public var secondsSince1970: Int64 = 0
    /// The device's time zone's offset at that time.
    public var offset = UTCOffset.utc
    /// Name of the device.
    public var name = ""
    /// The encoder's present target.
    public var bitrate = Bitrate(bitsPerSecond: 0)
    /// Name of the present quality.
    public var quality = ""
    /// Number of frames before this one.
    public var frame = 0

    public init() {}

    func text(of field: TextTemplate.Field) -> String {
        switch field {
        case .name: name
        case .bitrate: "\(bitrate.bitsPerSecond / 1000) kbit/s"
        case .quality: quality
        case .frame: "\(frame)"
        // These are formatted as moments.
        case .time, .date: ""
        }
    }
}

/// Why a text is not a valid template.
struct TextFault: Error, CustomStringConvertible {
    /// What it must be instead.
    let description: String
}

extension TextTemplate {
    /// The conversions of strftime (POSIX, and glibc's `k`, `l`, `P` and `s`), without `n` and `t`, which produce
    /// control characters, and without widths, which are unlimited.
    private static let conversions = Set("aAbBcCdDeFgGhHIjklmMpPrRsSTuUVwWxXyYzZ%".unicodeScalars)

    static func parsed(_ text: String) -> Result<TextTemplate, TextFault> {
        Result { () throws(TextFault) in try TextTemplate(text, parts(of: text)) }
    }

    private static func parts(of text: String) throws(TextFault) -> [Part] {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count <= longestSource else {
            throw TextFault(description: "at most \(longestSource) characters")
        }
        var (parts, literal, lines, place): ([Part], String, Int, Int) = ([], "", 1, 0)
        while place < scalars.count {
            let scalar = scalars[place]
            let next = place + 1 < scalars.count ? scalars[place + 1] : nil
            place += 1
            switch (scalar, next) {
            case ("\n", _), ("\\", "n"):
                lines += 1
                literal += "\n"
                place += scalar == "\n" ? 0 : 1
            case ("\\", "\\"), ("{", "{"), ("}", "}"):
                literal.unicodeScalars.append(scalar)
                place += 1
            case ("{", _):
                guard let end = scalars[place...].firstIndex(of: "}") else {
                    throw TextFault(description: "text with each field closed by }, or {{ for a brace")
                }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(try part(String(String.UnicodeScalarView(scalars[place..<end]))))
                place = end + 1
            default:
                guard !scalar.isControl else { throw TextFault(description: "text without control characters") }
                literal.unicodeScalars.append(scalar)
            }
        }
        guard lines <= mostLines else { throw TextFault(description: "at most \(mostLines) lines") }
        return literal.isEmpty ? parts : parts + [.literal(literal)]
    }

    /// - Parameter word: the text between the braces.
    private static func part(_ word: String) throws(TextFault) -> Part {
        switch Field(rawValue: word.lowercased()) {
        case .time: return .moment("%H:%M:%S")
        case .date: return .moment("%Y-%m-%d")
        case let field?: return .field(field)
        case nil: break
        }
        var isConversion = false
        var conversionCount = 0
        for scalar in word.unicodeScalars {
            guard !scalar.isControl, !isConversion || conversions.contains(scalar) else {
                throw TextFault(description: "text in which each % precedes one of strftime's letters")
            }
            if isConversion { conversionCount += 1 }
            isConversion = !isConversion && scalar == "%"
        }
        guard conversionCount > 0, !isConversion else {
            let names = Field.allCases.map(\.rawValue)
            let meant = NameSuggestion.nearest(to: word, among: names).map { "{\($0)}" }
            throw TextFault(
                description: "text with the fields \(meant ?? names.map { "{\($0)}" }.joined(separator: ", "))")
        }
        return .moment(word)
    }
}
