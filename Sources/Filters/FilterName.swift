import Media

/// The filters that can be applied to frames before encoding. Their order is used in every list.
public enum FilterName: String, CaseIterable, Sendable {
    case image
    case text
    case lut
    case smooth
    case whiten
    case redden
    case crop
    case gray
    case mirror

    /// The most filters of this kind in a chain, such as a logo and a sponsor's, or a title and a clock.
    public var largestNumber: Int {
        switch self {
        case .image, .text: 9
        case .lut, .smooth, .whiten, .redden, .crop, .gray, .mirror: 1
        }
    }
}

extension FilterName: CustomStringConvertible {
    public var description: String { rawValue }
}

/// One filter of a chain: `text`, or `text2` if there are several.
public struct FilterID: Hashable, Sendable {
    public let name: FilterName
    /// From 1.
    public let number: Int

    /// - Parameter number: limited to the name's largest number.
    public init(_ name: FilterName, number: Int = 1) {
        self.name = name
        self.number = min(max(1, number), name.largestNumber)
    }

    /// - Parameter text: case-insensitive.
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
