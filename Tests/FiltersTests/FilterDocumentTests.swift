import Glibc
import Testing

@testable import Filters

/// docs/filters.md has the table of filters as the program has it.
@Suite struct FilterDocumentTests {
    private static let rows = FilterDescription.all.flatMap { row in
        ["| `\(row.name)` | | | | \(row.summary) |"]
            + row.parameters.map { parameter in
                let standard = parameter.standard.map { "`\($0)`" } ?? parameter.absence ?? "has to be there"
                return "| | `\(parameter.name)` | \(parameter.form) | \(standard) | \(parameter.summary) |"
            }
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
        let documented = Self.lines(of: "docs/filters.md").filter { $0.hasPrefix("| `") || $0.hasPrefix("| | `") }
        #expect(documented == Self.rows, "docs/filters.md should have:\n\(Self.rows.joined(separator: "\n"))")
    }
}
