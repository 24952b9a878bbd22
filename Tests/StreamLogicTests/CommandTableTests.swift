import SeededNumbers
import Testing

@testable import StreamLogic

@Suite struct CommandTableTests {
    @Test func eachNameHasOneRowInOrder() {
        #expect(CommandDescription.all.map(\.name) == CommandName.allCases)
        for name in CommandName.allCases { #expect(CommandDescription.of(name).name == name) }
    }

    @Test(arguments: CommandSurface.allCases)
    func eachSurfaceHasEveryCommandOrExplainsItsAbsence(surface: CommandSurface) {
        for row in CommandDescription.all where row.forms(on: surface).isEmpty {
            #expect(row.absence.count > 20, "\(row.name) on \(surface)")
        }
    }

    @Test(arguments: CommandSurface.allCases)
    func helpListsEachFormInEightyColumns(surface: CommandSurface) {
        let help = CommandDescription.help(on: surface)
        for row in CommandDescription.all(on: surface) {
            for usage in row.usages(on: surface) {
                #expect(help.contains { $0 == usage || $0.hasPrefix("\(usage)  ") }, "\(usage)")
            }
        }
        for line in help { #expect(line.count <= 80, "\(line)") }
    }

    @Test(
        arguments: [
            ("status", "status", []), ("  STATUS  json\r", "status", ["json"]),
            ("quality Medium2", "quality", ["Medium2"]),
            ("set zoom 2 mute on", "set", ["zoom", "2", "mute", "on"]), ("torch", "torch", []),
            ("torch auto", "torch", ["auto"]),
            ("mute ON", "mute", ["ON"]), ("events 5", "events", ["5"]), ("snapshot 90", "snapshot", ["90"]),
            ("snapshot send 90", "snapshot", ["send", "90"]), (#"camera "the front""#, "camera", ["the front"]),
            (#"camera 'the "front"'"#, "camera", [#"the "front""#]),
            (#"camera "a \"b\" c\\""#, "camera", [#"a "b" c\"#]),
        ] as [(String, String, [String])])
    func parsesNameAndArguments(line: String, name: String, arguments: [String]) throws {
        let command = try #require(try TypedCommand(line, on: .socket))
        #expect(command.name.rawValue == name)
        #expect(command.arguments == arguments)
    }

    @Test(arguments: ["", " ", "\t\r"])
    func emptyLineIsNotACommand(line: String) throws {
        #expect(try TypedCommand(line, on: .publish) == nil)
    }

    private func problem(_ line: String, on surface: CommandSurface) -> String? {
        do throws(CommandError) {
            _ = try TypedCommand(line, on: surface)
            return nil
        } catch {
            return error.description
        }
    }

    private static let eventsUsage =
        "usage: events [N], or events follow [COUNT], or events follow json; N is 1 to 1000; COUNT is 0 to 1000"

    @Test(arguments: [
        ("set", "usage: set NAME VALUE [NAME VALUE...]"), ("set zoom", "usage: set NAME VALUE [NAME VALUE...]"),
        ("set zoom 2 mute", "usage: set NAME VALUE [NAME VALUE...]"), ("status now", "usage: status [json]"),
        ("stop now", "usage: stop"), ("quality a b", "usage: quality [NAME|RATE]"), ("mute", "usage: mute on|off"),
        ("mute perhaps", "usage: mute on|off"), ("camera", "usage: camera NAME|next"),
        ("events 1 2", eventsUsage), ("events 0", eventsUsage), ("events follow 1001", eventsUsage),
        ("events folow", eventsUsage + "; did you mean follow?"), ("pause", "usage: pause on|off"),
        ("filter", "usage: filter NAME KEY=VALUE [KEY=VALUE...]|off"),
        (
            "snapshot send 1 2",
            "usage: snapshot [QUALITY], or snapshot send [QUALITY]; QUALITY is 1 to 100"
        ), ("torch lve", "usage: torch [off|on|live|auto]; did you mean live?"),
        ("webcam on", "usage: webcam start|stop|allow"), (#"camera "front"#, "usage: camera NAME|next"),
        (#"camera "a"b"#, "usage: camera NAME|next"),
        ("statsu", #"unknown command "statsu"; did you mean status? see help"#),
        ("dance", #"unknown command "dance"; see help"#),
        ("show", "show is now status, settings or controls"), ("Next", "next is now: camera next"),
        ("rtmp://host/live/key", #"unknown command "rtmp://***"; see help"#),
    ])
    func wrongLineIsAnsweredWithItsUsage(line: String, answer: String) {
        #expect(problem(line, on: .socket) == answer)
    }

    @Test func surfaceExplainsWhatItCannotDo() {
        for line in ["reboot", "poweroff", "torch on", "faults", "events", "webcam start", "start"] {
            let answer = problem(line, on: .publish) ?? ""
            #expect(answer.contains("publish") || answer.contains("tallycam run"), "\(answer)")
            #expect(problem(line, on: .console) == nil, "\(line)")
        }
        for line in ["begin", "commit", "cancel"] {
            #expect(problem(line, on: .publish) == nil)
            #expect(problem(line, on: .socket)?.contains("one set line") == true)
        }
        #expect(problem("snapshot", on: .publish) == "usage: snapshot FILE [QUALITY]; QUALITY is 1 to 100")
    }

    @Test func anyWordSurvivesQuotingAndParsing() throws {
        var random = SeededGenerator(seed: 31)
        let pieces = ["\\", "\"", "'", " ", "\t", ",", "=", "a", "\u{301}", "ö"]
        for _ in 0..<3000 {
            let word = (0...Int.random(in: 0...6, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let line = TypedCommand.line(["camera", word])
            #expect(try TypedCommand(line, on: .console)?.arguments == [word], "\(line)")
        }
    }
}
