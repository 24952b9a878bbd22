import Glibc
import Testing

@testable import Controls

/// docs/controls.md has the table of controls as the program has it.
@Suite struct ControlDocumentTests {
    private static let rows = ControlDescription.all.map { row in
        "| `\(row.name)` | \(row.form) | \(row.summary) | \(row.libcamera) | \(row.v4l2) |"
    }

    private static func lines(of path: String) -> [String] {
        let checkout = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
        guard let file = fopen("/\(checkout)/\(path)", "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte >= 0 { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func theDocumentHasTheTable() {
        let documented = Self.lines(of: "docs/controls.md").filter { $0.hasPrefix("| `") }
        #expect(documented == Self.rows, "docs/controls.md should have:\n\(Self.rows.joined(separator: "\n"))")
    }
}
