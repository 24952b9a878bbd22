import LinuxIO

/// The names of the camera's parts that have kernel drivers: sensors, lenses, receivers.
package func cameraParts() -> [String] {
    (0..<64).compactMap { number in
        guard let name = try? readFile("/sys/class/video4linux/v4l-subdev\(number)/name", limit: 256) else {
            return nil
        }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

/// What is wrong with the lens that board.json names; `nil` if its driver is present. libcamera, or the lens itself, finds it
/// through the sensor, so a missing lens would otherwise show only as blurred video.
package func lensProblem(_ wanted: String) -> String? {
    let present = cameraParts()
    guard !present.contains(wanted) else { return nil }
    let found =
        present.isEmpty ? "; the kernel has no camera parts" : foundNames(present)
    return "no driver is named \"\(wanted)\"\(found); check the camera's cable, or set another name"
}
