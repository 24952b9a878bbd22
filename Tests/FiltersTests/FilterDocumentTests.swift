import MediaTestSupport
import Testing

@testable import Filters

/// docs/reference/filters.md contains the program's table of filters.
@Suite struct FilterDocumentTests {
    private static let rows = FilterDescription.all.flatMap { row in
        ["| `\(row.name)` | | | | \(row.summary) |"]
            + row.parameters.map { parameter in
                let standard = parameter.standard.map { "`\($0)`" } ?? parameter.absence ?? "required"
                return "| | `\(parameter.name)` | \(parameter.form) | \(standard) | \(parameter.summary) |"
            }
    }

    @Test func documentContainsTheTable() throws {
        let lines = try documentLines("docs/reference/filters.md")
        let documented = lines.filter { $0.hasPrefix("| `") || $0.hasPrefix("| | `") }
        #expect(documented == Self.rows, "the document should have:\n\(Self.rows.joined(separator: "\n"))")
    }
}
