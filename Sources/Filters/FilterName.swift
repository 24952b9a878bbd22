import Media

/// What can be done to frames between source and encoder. The order is that of every list.
public enum FilterName: String, CaseIterable, Sendable {
    case image
    case text
    case lut
    case smooth
    case whiten
    case redden
    case crop
    case grey
    case mirror

    /// How many of them a chain may have: a logo and a sponsor's, a title and a clock.
    public var largestNumber: Int {
        switch self {
        case .image, .text: 9
        case .lut, .smooth, .whiten, .redden, .crop, .grey, .mirror: 1
        }
    }
}

extension FilterName: CustomStringConvertible {
    public var description: String { rawValue }
}

/// One filter of a chain: `text`, or `text2` where there are several.
public struct FilterID: Hashable, Sendable {
    public let name: FilterName
    /// From 1.
    public let number: Int

    /// - Parameter number: what is beyond the name's largest becomes that.
    public init(_ name: FilterName, number: Int = 1) {
        self.name = name
        self.number = min(max(1, number), name.largestNumber)
    }

    /// - Parameter text: in any case of letters.
    public init(parsing text: String) throws(FilterError) {
        let lowercased = text.lowercased()
        let digits = lowercased.utf8.reversed().prefix { $0.isASCIIDigit }.count
        let word = String(lowercased.dropLast(digits))
        guard let name = FilterName(rawValue: word) else { throw .unknownFilter(text) }
        guard digits > 0 else {
            self.init(name)
            return
        }
        guard let number = Int(lowercased.suffix(digits)), (1...name.largestNumber).contains(number) else {
            throw .impossibleNumber(name, text)
        }
        self.init(name, number: number)
    }
}

extension FilterID: CustomStringConvertible {
    public var description: String { number == 1 ? name.rawValue : "\(name)\(number)" }
}
