import Media

/// An sRGB color with alpha.
public struct FilterColor: Hashable, Sendable {
    public let red: UInt8
    public let green: UInt8
    public let blue: UInt8
    /// 255 is opaque.
    public let alpha: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Invisible.
    public static let none = FilterColor(red: 0, green: 0, blue: 0, alpha: 0)
    public static let white = FilterColor(red: 255, green: 255, blue: 255)
    public static let black = FilterColor(red: 0, green: 0, blue: 0)

    /// Names and values from CSS Color Module Level 4, section 6.1.
    private static let names: [(name: String, color: FilterColor)] = [
        ("none", none), ("white", white), ("black", black), ("red", FilterColor(red: 255, green: 0, blue: 0)),
        ("lime", FilterColor(red: 0, green: 255, blue: 0)), ("green", FilterColor(red: 0, green: 128, blue: 0)),
        ("blue", FilterColor(red: 0, green: 0, blue: 255)), ("yellow", FilterColor(red: 255, green: 255, blue: 0)),
        ("cyan", FilterColor(red: 0, green: 255, blue: 255)),
        ("magenta", FilterColor(red: 255, green: 0, blue: 255)),
        ("orange", FilterColor(red: 255, green: 165, blue: 0)), ("gray", FilterColor(red: 128, green: 128, blue: 128)),
    ]

    /// - Parameter text: a name, `#RRGGBB` or `#RRGGBBAA`, case-insensitive.
    public init?(parsing text: String) {
        let text = text.lowercased()
        if let named = Self.names.first(where: { $0.name == text }) {
            self = named.color
            return
        }
        let digits = text.dropFirst()
        guard text.hasPrefix("#"), [6, 8].contains(digits.utf8.count), digits.utf8.allSatisfy(\.isASCIIHexDigit),
            let value = UInt32(digits, radix: 16)
        else { return nil }
        let all = digits.utf8.count == 8 ? value : value << 8 | 255
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: all >> UInt32($0)) }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes[3])
    }
}

extension FilterColor: CustomStringConvertible {
    public var description: String {
        if let named = Self.names.first(where: { $0.color == self }) { return named.name }
        let bytes = [red, green, blue] + (alpha == 255 ? [] : [alpha])
        return bytes.reduce("#") { $0 + ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }
}
