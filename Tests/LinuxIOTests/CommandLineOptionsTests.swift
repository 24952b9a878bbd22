import LinuxIO
import Testing

@Suite struct CommandLineOptionsTests {
    let options = CommandLineOptions([
        CommandLineOption("url", short: "u", takes: "URL", help: "where to publish"),
        CommandLineOption("url-file", takes: "PATH", help: "a file that holds the URL,\nfor secrets"),
        CommandLineOption("audio-quality-of-the-stream", takes: "NAME", help: "a long one"),
        CommandLineOption("verbose", short: "v", help: "say more"),
    ])

    @Test func repeatingASingleOptionIsRefused() throws {
        let options = CommandLineOptions([
            CommandLineOption("url", takes: "URL", isSingle: true, help: ""),
            CommandLineOption("audio", takes: "SOURCE", help: ""),
        ])
        #expect(throws: CommandLineError.repeated(option: "--url")) { try options.parse(["--url", "a", "--ur=b"]) }
        #expect("\(CommandLineError.repeated(option: "--url"))" == "--url is given more than once")
        #expect(try options.parse(["--audio", "a", "--audio", "b"]).values(of: "audio") == ["a", "b"])
    }

    @Test func readsEveryFormOfAnOption() throws {
        let parsed = try options.parse(["--url", "a", "--url=b", "-u", "c", "-ud", "--verb", "-v"])
        #expect(parsed.values(of: "url") == ["a", "b", "c", "d"])
        #expect(parsed["url"] == "d")
        #expect(parsed.contains("verbose"))
        #expect(!parsed.contains("url-file"))
        #expect(parsed["url-file"] == nil)
        #expect(parsed.operands == [])
    }

    @Test func acceptsOperandsAnywhere() throws {
        let parsed = try options.parse(["one", "-v", "two", "--url", "x", "three", "--", "--url", "-"])
        #expect(parsed.operands == ["one", "two", "three", "--url", "-"])
        #expect(parsed.values(of: "url") == ["x"])
    }

    @Test func negativeNumbersAreNotOptions() throws {
        let parsed = try options.parse(["exposure-value", "-1.5", "--url", "-6", "-.5", "-v", "2:-6"])
        #expect(parsed.operands == ["exposure-value", "-1.5", "-.5", "2:-6"])
        #expect(parsed["url"] == "-6" && parsed.contains("verbose"))
        #expect(try options.parse(["\u{1}x"]).operands == ["\u{1}x"])
        #expect(throws: CommandLineError.unknownOption("-x")) { try options.parse(["-x"]) }
    }

    @Test func acceptsAnEmptyCommandLine() throws {
        #expect(try options.parse([]).operands == [])
        #expect(try CommandLineOptions([]).parse(["a"]).operands == ["a"])
    }

    @Test func acceptsEmptyAndNonASCIIValues() throws {
        let parsed = try options.parse(["--url=", "--url-file", "/tmp/köln"])
        #expect(parsed["url"] == "")
        #expect(parsed["url-file"] == "/tmp/köln")
    }

    @Test(arguments: [
        (["--foo"], "unknown option --foo"),
        (["a", "--foo=3", "b"], "unknown option --foo=3"),
        (["-x"], "unknown option -x"),
        (["-vx"], "unknown option -x"),
        (["--ur"], "unknown option --ur"),
        (["--url"], "--url needs a value: --url URL"),
        (["-v", "-u"], "--url needs a value: --url URL"),
        (["--verbose=yes"], "--verbose takes no value"),
    ])
    func refuses(_ arguments: [String], with message: String) {
        do {
            _ = try options.parse(arguments)
            Issue.record("accepted \(arguments)")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test func parsesCorrectlyAfterAnError() throws {
        _ = try? options.parse(["-v", "-vx", "--url", "a"])
        #expect(try options.parse(["-v", "--url", "b"])["url"] == "b")
    }

    @Test func showsHelp() {
        #expect(
            options.helpText == """
                  -u, --url URL             where to publish
                      --url-file PATH       a file that holds the URL,
                                            for secrets
                      --audio-quality-of-the-stream NAME
                                            a long one
                  -v, --verbose             say more

                """)
    }
}
