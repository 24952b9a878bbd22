import Media

/// Parses a `.cube` file line by line: keywords, then the points.
struct ColorCubeReader {
    typealias Reason = ColorCubeError.Reason

    private static let title = "TITLE"
    private static let size = "LUT_3D_SIZE"
    private static let least = "DOMAIN_MIN"
    private static let most = "DOMAIN_MAX"
    /// DaVinci Resolve writes this instead of a domain.
    private static let range = "LUT_3D_INPUT_RANGE"
    private static let narrowestDomain: Float = 0.001
    /// Limit for the ends of a domain, far beyond any encoding of light.
    private static let largestDomain: Float = 1000

    private var points: Int?
    private var domain: (least: [Float], most: [Float]) = ([0, 0, 0], [1, 1, 1])
    private var samples: [Float] = []
    private var keywords: Set<String> = []

    /// - Parameter line: without LF; a CR at its end is ignored.
    mutating func read(_ line: ArraySlice<UInt8>) throws(Reason) {
        var line = line
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        line = line.drop(while: Self.isBlank)
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        if Self.startsNumber(first) {
            try addPoint(line)
        } else {
            try readKeyword(line)
        }
    }

    func finish() throws(Reason) -> (points: Int, least: [Float], most: [Float], samples: [Float]) {
        guard let points else { throw .missingSize }
        let expected = points * points * points
        guard samples.count == 3 * expected else {
            throw .tooFewPoints(samples.count / 3, expected: expected)
        }
        for (least, most) in zip(domain.least, domain.most) {
            guard most - least >= Self.narrowestDomain, max(abs(least), abs(most)) <= Self.largestDomain else {
                throw .emptyDomain
            }
        }
        return (points, domain.least, domain.most, samples)
    }

    private mutating func addPoint(_ line: ArraySlice<UInt8>) throws(Reason) {
        guard let points else { throw .missingSize }
        let expected = points * points * points
        guard samples.count < 3 * expected else { throw .tooManyPoints(expected) }
        guard let (red, green, blue) = Self.threeNumbers(line) else { throw .notThreeNumbers }
        samples.append(red)
        samples.append(green)
        samples.append(blue)
    }

    private mutating func readKeyword(_ line: ArraySlice<UInt8>) throws(Reason) {
        let word = line.prefix { !Self.isBlank($0) }
        let keyword = String(decoding: word.prefix(40), as: UTF8.self)
        let rest = line.dropFirst(word.count).drop(while: Self.isBlank)
        guard [Self.title, Self.size, Self.least, Self.most, Self.range].contains(keyword) else {
            throw keyword == "LUT_1D_SIZE" ? .oneDimensional : .unknownKeyword(keyword)
        }
        guard samples.isEmpty else { throw .lateKeyword(keyword) }
        guard keywords.insert(keyword).inserted else { throw .repeated(keyword) }
        switch keyword {
        case Self.size: try setSize(rest)
        case Self.least: domain.least = try Self.corner(rest)
        case Self.most: domain.most = try Self.corner(rest)
        case Self.range:
            var rest = rest
            guard let least = Self.number(&rest), let most = Self.number(&rest), rest.allSatisfy(Self.isBlank) else {
                throw .notTwoNumbers
            }
            domain = ([least, least, least], [most, most, most])
        default: break
        }
    }

    private mutating func setSize(_ text: ArraySlice<UInt8>) throws(Reason) {
        let digits = text.prefix { !Self.isBlank($0) }
        let rest = text.dropFirst(digits.count)
        guard digits.count <= 4, digits.allSatisfy(\.isASCIIDigit), rest.allSatisfy(Self.isBlank),
            let count = Int(String(decoding: digits, as: UTF8.self)), ColorCube.pointCounts.contains(count)
        else { throw .unusableSize(String(decoding: text.prefix(40), as: UTF8.self)) }
        points = count
        samples.reserveCapacity(3 * count * count * count)
    }

    private static func corner(_ text: ArraySlice<UInt8>) throws(Reason) -> [Float] {
        guard let (red, green, blue) = threeNumbers(text) else { throw .notThreeNumbers }
        return [red, green, blue]
    }

    private static func threeNumbers(_ text: ArraySlice<UInt8>) -> (Float, Float, Float)? {
        var rest = text
        guard let red = number(&rest), let green = number(&rest), let blue = number(&rest),
            rest.allSatisfy(isBlank)
        else { return nil }
        return (red, green, blue)
    }
}

// Number parsing. `Float` only parses strings, which takes seconds for 800,000 numbers on a small board.
extension ColorCubeReader {
    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func startsNumber(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
    }

    /// Powers of ten that a `Double` represents exactly.
    private static let powers: [Double] = (0..<22).reduce(into: [1]) { powers, _ in
        powers.append(powers[powers.count - 1] * 10)
    }
    /// Further digits do not change a `Float`.
    private static let mostDigits = 18

    /// Consumes a number and the blanks before it.
    /// - Returns: `nil` if there is no number, or a `Float` cannot hold it.
    private static func number(_ text: inout ArraySlice<UInt8>) -> Float? {
        var place = text.startIndex
        let end = text.endIndex
        while place < end, isBlank(text[place]) { place += 1 }
        var isNegative = false
        if place < end, text[place] == UInt8(ascii: "-") || text[place] == UInt8(ascii: "+") {
            isNegative = text[place] == UInt8(ascii: "-")
            place += 1
        }
        var (mantissa, exponent, digits, kept, hasPoint): (Int64, Int, Int, Int, Bool) = (0, 0, 0, 0, false)
        while place < end {
            let byte = text[place]
            if byte.isASCIIDigit {
                digits += 1
                if kept < mostDigits {
                    mantissa = mantissa * 10 + Int64(byte - UInt8(ascii: "0"))
                    // Leading zeros do not count as digits.
                    kept += mantissa > 0 ? 1 : 0
                    exponent -= hasPoint ? 1 : 0
                } else {
                    exponent += hasPoint ? 0 : 1
                }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                break
            }
            place += 1
        }
        guard digits > 0, let written = self.exponent(text, &place) else { return nil }
        guard place == end || isBlank(text[place]) else { return nil }
        text = text[place...]
        let value = Float(scaled(Double(mantissa), exponent + written))
        return value.isFinite ? (isNegative ? -value : value) : nil
    }

    /// Parses the exponent after `e`; 0 without one.
    /// - Returns: `nil` for an `e` without a number of one to three digits.
    private static func exponent(_ text: ArraySlice<UInt8>, _ place: inout Int) -> Int? {
        guard place < text.endIndex, text[place] == UInt8(ascii: "e") || text[place] == UInt8(ascii: "E") else {
            return 0
        }
        place += 1
        var isNegative = false
        if place < text.endIndex, text[place] == UInt8(ascii: "-") || text[place] == UInt8(ascii: "+") {
            isNegative = text[place] == UInt8(ascii: "-")
            place += 1
        }
        let digits = text[place...].prefix { $0.isASCIIDigit }
        guard (1...3).contains(digits.count) else { return nil }
        place += digits.count
        let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }

    private static func scaled(_ value: Double, _ exponent: Int) -> Double {
        var (value, rest) = (value, exponent)
        let largest = powers.count - 1
        while rest > largest, value.isFinite, value != 0 {
            value *= powers[largest]
            rest -= largest
        }
        while rest < -largest, value != 0 {
            value /= powers[largest]
            rest += largest
        }
        guard value != 0 else { return 0 }
        return rest >= 0 ? value * powers[min(rest, largest)] : value / powers[-rest]
    }
}
