import Media

/// Classes of characters, by RFC 9110 section 5.6 and RFC 3986.
extension UInt8 {
    static let space = UInt8(ascii: " ")
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")
    static let colon = UInt8(ascii: ":")
    static let slash = UInt8(ascii: "/")
    static let quote = UInt8(ascii: "\"")

    /// `tchar`: names of headers and methods.
    var isTokenCharacter: Bool {
        if isASCIILetter || isASCIIDigit { return true }
        return switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// `OWS`
    var isBlank: Bool { self == .space || self == .tab }

    var isControl: Bool { self < 0x20 || self == 0x7F }

    /// ASCII letters only; other bytes are unchanged.
    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks at both ends.
    var trimmed: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first.isBlank { slice.removeFirst() }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }

    /// Compares with ASCII text in lowercase.
    func isCaseless(_ lowercase: String) -> Bool {
        count == lowercase.utf8.count && zip(self, lowercase.utf8).allSatisfy { $0.asciiLowercased == $1 }
    }

    func hasCaselessPrefix(_ lowercase: String) -> Bool { prefix(lowercase.utf8.count).isCaseless(lowercase) }

    /// A number of decimal digits alone; too large a number becomes `Int.max`.
    var digitsValue: Int? {
        guard !isEmpty, allSatisfy(\.isASCIIDigit) else { return nil }
        return reduce(0) { value, digit in
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, exceeds) = product.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            return overflows || exceeds ? Int.max : sum
        }
    }
}
