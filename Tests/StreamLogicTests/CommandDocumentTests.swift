import MediaTestSupport
import Testing

@testable import StreamLogic

/// The documents list the same commands of a surface as the program.
@Suite struct CommandDocumentTests {
    @Test(arguments: [("docs/appliance.md", CommandSurface.console), ("docs/quality.md", .publish)])
    func documentNamesEachCommand(path: String, surface: CommandSurface) throws {
        let table = try documentLines(path).drop { $0 != "| Command | Does |" }.dropFirst(2).prefix {
            $0.hasPrefix("| `")
        }
        var documented: Set<String> = []
        for line in table {
            let cell = line.split(separator: "|")[0].split(separator: "`", omittingEmptySubsequences: false)
            for (index, text) in cell.enumerated() where index % 2 == 1 {
                documented.insert(String(text.prefix { $0 != " " }))
            }
        }
        #expect(documented == Set(CommandDescription.all(on: surface).map(\.name.rawValue)))
    }
}
