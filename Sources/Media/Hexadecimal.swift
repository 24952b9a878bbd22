private let digits = Array("0123456789abcdef".utf8)

extension [UInt8] {
    /// Two lowercase digits for each byte.
    package var hexadecimal: String {
        String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// - Returns: `nil` if the text is not an even number of lowercase digits.
    package init?(hexadecimal text: String) {
        let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
        self = stride(from: 0, to: values.count, by: 2).map { (first: Int) -> UInt8 in
            UInt8(values[first] << 4 | values[first + 1])
        }
    }
}
