import MediaTestSupport
import Testing

@testable import StreamLogic

/// docs/reference/console.md lists the commands of a surface as the program has them.
@Suite struct CommandDocumentTests {
    @Test(arguments: [("## On the camera", CommandSurface.console), ("## In tallycam publish", .publish)])
    func documentNamesEachCommand(heading: String, surface: CommandSurface) throws {
        let section = try documentLines("docs/reference/console.md").drop { $0 != heading }
        let table = section.drop { $0 != "| Command | Does |" }.dropFirst(2).prefix { $0.hasPrefix("| `") }
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
