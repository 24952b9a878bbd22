import LinuxIO

/// What is wrong with the lens that board.json names; `nil` when its driver is there. Whoever focuses (libcamera, or
/// the lens itself) finds it by the sensor, so that a missing one would only be seen in blurred pictures.
func lensFault(_ wanted: String) -> String? {
    let present = (0..<64).compactMap { number -> String? in
        guard let name = try? readFile("/sys/class/video4linux/v4l-subdev\(number)/name", limit: 256) else {
            return nil
        }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    guard !present.contains(wanted) else { return nil }
    let found =
        present.isEmpty
        ? "the kernel shows no camera part at all" : "there are " + present.map { "\"\($0)\"" }.joined(separator: ", ")
    return "lens: no driver is named \"\(wanted)\"; \(found); look at the camera's cable, or at \"lens\" in board.json"
}
