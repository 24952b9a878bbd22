/// A number with a fixed number of decimals, padded on the left to `width`.
public func fixed(_ value: Double, width: Int = 0, decimals: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "-" }
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    var text = String(scaled / scale)
    if decimals > 0 {
        let fraction = String(scaled % scale)
        text += "." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
    if value < 0 && scaled > 0 { text = "-" + text }
    return String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Parses a plain decimal number: a sign, digits, a point. `Double` also accepts exponents, hexadecimal digits and
/// words.
/// - Returns: `nil` for anything else.
public func decimal(_ text: some StringProtocol) -> Double? {
    var digits = Array(text.utf8)[...]
    if digits.first == UInt8(ascii: "-") || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    let points = digits.filter { $0 == UInt8(ascii: ".") }.count
    guard points <= 1, digits.count > points, digits.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else {
        return nil
    }
    // The text may have more digits than a Double can hold.
    return Double(text).flatMap { $0.isFinite ? $0 : nil }
}
