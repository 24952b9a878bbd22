/// A number with a fixed count of decimals, padded to `width` in front.
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
