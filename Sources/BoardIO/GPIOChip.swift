import CGPIOD

/// A GPIO chip in its present state.
public struct GPIOChip: Sendable {
    public struct Line: Sendable {
        public let name: String
        /// The program or driver that uses it; `nil` if it is free.
        public let user: String?
    }

    public let name: String
    public let label: String
    /// The lines that have names.
    public let lines: [Line]

    /// All chips that this user may open, in numerical order.
    public static func all() -> [GPIOChip] { GPIOLine.chipPaths().compactMap(GPIOChip.init) }

    private init?(at path: String) {
        guard let chip = gpiod_chip_open(path) else { return nil }
        defer { gpiod_chip_close(chip) }
        guard let info = gpiod_chip_get_info(chip) else { return nil }
        defer { gpiod_chip_info_free(info) }
        name = Self.text(gpiod_chip_info_get_name(info)) ?? path
        label = Self.text(gpiod_chip_info_get_label(info)) ?? name
        var lines: [Line] = []
        for offset in 0..<UInt32(clamping: gpiod_chip_info_get_num_lines(info)) {
            guard let line = gpiod_chip_get_line_info(chip, offset) else { continue }
            defer { gpiod_line_info_free(line) }
            guard let name = Self.text(gpiod_line_info_get_name(line)) else { continue }
            let user = Self.text(gpiod_line_info_get_consumer(line)) ?? "the kernel"
            lines.append(Line(name: name, user: gpiod_line_info_is_used(line) ? user : nil))
        }
        self.lines = lines
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text, text.pointee != 0 else { return nil }
        return String(cString: text)
    }
}
