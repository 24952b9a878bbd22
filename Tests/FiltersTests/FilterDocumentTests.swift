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
        let documented = try documentLines("docs/reference/filters.md").filter { $0.hasPrefix("| `") || $0.hasPrefix("| | `") }
        #expect(documented == Self.rows, "docs/reference/filters.md should have:\n\(Self.rows.joined(separator: "\n"))")
    }
}
