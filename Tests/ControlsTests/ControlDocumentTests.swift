import MediaTestSupport
import Testing

@testable import Controls

/// docs/reference/controls.md contains the program's table of controls.
@Suite struct ControlDocumentTests {
    private static let rows = ControlDescription.all.map { row in
        "| `\(row.name)` | \(row.form) | \(row.summary) | \(row.libcamera) | \(row.v4l2) |"
    }

    @Test func documentContainsTheTable() throws {
        let documented = try documentLines("docs/reference/controls.md").filter { $0.hasPrefix("| `") }
        #expect(documented == Self.rows, "the document should have:\n\(Self.rows.joined(separator: "\n"))")
    }
}
