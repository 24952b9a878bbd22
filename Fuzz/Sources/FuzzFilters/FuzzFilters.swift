import Filters
import FuzzDriver
import Media

@main enum FuzzFilters {
    static func main() { fuzz(testOneInput) }
}

/// Lines as for `--filter`, one after the other for the same chain.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    var chain = FilterChain()
    for line in text.split(separator: "\u{1E}", maxSplits: 8) {
        let before = chain
        do throws(FilterError) {
            try chain.set(FilterChange(parsing: String(line)))
        } catch {
            precondition(chain == before, "a refused change has changed something")
            precondition(isPrintable("\(error)"), "a control character is printed")
            precondition("\(error)".utf8.count < 4096, "an error is reported at length")
        }
    }
    for setting in chain.settings { check(setting) }
    readCube(Array(UnsafeRawBufferPointer(start: data, count: count)))
    return 0
}

/// The same bytes as a `.cube` file.
private func readCube(_ bytes: [UInt8]) {
    do throws(ColorCubeError) {
        let cube = try ColorCube(parsing: bytes)
        precondition(cube.samples.count == 3 * cube.points * cube.points * cube.points, "points are missing")
        precondition(cube.samples.allSatisfy(\.isFinite), "a point is not finite")
        precondition(zip(cube.least, cube.most).allSatisfy(<), "the domain is empty")
    } catch {
        precondition(isPrintable("\(error)"), "a control character is printed")
        precondition("\(error)".utf8.count < 4096, "an error is reported at length")
    }
}

private func check(_ setting: FilterSetting) {
    guard let again = try? FilterChain(parsing: ["\(setting)"]) else { preconditionFailure("not read as written") }
    precondition(again.settings == [setting] || hasRoundedNumbers(setting, again), "read as something else")
    let corner = setting.position.corner(
        of: FrameSize(width: 64, height: 48), in: FrameSize(width: 640, height: 480), margin: setting.number(.margin))
    precondition((0...576).contains(corner.x) && (0...432).contains(corner.y), "it lies outside of the frame")
    var fields = TextFields()
    fields.name = "x\u{7}\n"
    guard let template = setting.text else { return }
    let text = template.expanded(fields) { String(repeating: $0, count: 40) }
    precondition(text.unicodeScalars.count <= TextTemplate.longestExpansion)
    precondition(isPrintable(text, "\n"), "a control character is drawn")
    precondition(template.relevant(template.relevant(fields)) == template.relevant(fields))
}

/// Numbers are written with three decimals.
private func hasRoundedNumbers(_ setting: FilterSetting, _ chain: FilterChain) -> Bool {
    chain.settings.count == 1 && "\(chain.settings[0])" == "\(setting)"
}

/// Lines of a log must stay single lines.
private func isPrintable(_ text: String, _ allowed: Unicode.Scalar? = nil) -> Bool {
    text.unicodeScalars.allSatisfy { $0 == allowed || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
}
