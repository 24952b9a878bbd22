import SeededNumbers
import Testing

@testable import Filters

@Suite struct FilterTableTests {
    @Test func eachNameHasOneRowInOrder() {
        #expect(FilterDescription.all.map(\.name) == FilterName.allCases)
        for name in FilterName.allCases { #expect(FilterDescription.of(name).name == name) }
    }

    @Test func defaultsAreValidValues() throws {
        for row in FilterDescription.all {
            let filter = FilterID(row.name)
            for parameter in row.parameters {
                guard let standard = parameter.standard else { continue }
                #expect(
                    try FilterValue("\(standard)", of: parameter, in: filter) == standard, "\(filter) \(parameter.name)"
                )
            }
            #expect(Set(row.parameters.map(\.name)).count == row.parameters.count)
        }
    }

    @Test(arguments: [
        ("mirror", "mirror"), ("GRAY", "gray"), ("smooth,strength=0.70", "smooth,strength=0.7"),
        ("image,file=/card/logo.png", "image,file=/card/logo.png"),
        ("image2,file=a.png,position=Bottom-Right,width=0.2", "image2,file=a.png,position=bottom-right,width=0.2"),
        (#"image,file=a\,b.png,position=0.25\,1"#, #"image,file="a,b.png",position="0.25,1""#),
        ("image,file=a,b.png,position=0.25,1", #"image,file="a,b.png",position="0.25,1""#),
        ("text,text=Studio {time},position=bottom-left", #"text,text="Studio {time}",position=bottom-left"#),
        ("text text=Studio {time} position=bottom-left", #"text,text="Studio {time}",position=bottom-left"#),
        (#"text9,text=a\\\,b\n=c"#, #"text9,text="a\,b\n=c""#),
        (#"text,text=a\\,size=0.1"#, #"text,text="a\\",size=0.1"#), (#"text,text=\\a\"#, #"text,text="\\a\\""#),
        ("text,color=#FF000080,background=Orange,text=x", "text,text=x,color=#ff000080,background=orange"),
        ("text,text=x,size=", "text,text=x"), ("crop,left=0.25", "crop,left=0.25"),
        ("crop,left=0.25,width=0.75", "crop,left=0.25,width=0.75"),
    ])
    func filtersAreParsedAndPrintedAgain(written: String, expected: String) throws {
        let chain = try FilterChain(parsing: [written])
        #expect(chain.settings.map(\.description) == [expected])
        #expect(try FilterChain(parsing: [expected]) == chain)
    }

    @Test(arguments: [
        (#"a\,b"#, "a,b"), (#"a\\\,b"#, #"a\,b"#), (#"a\\\\\,b"#, #"a\\,b"#), (#"\a\\b\"#, #"\a\\b\"#),
        (#"a\\,size=0.1"#, #"a\"#), (#"a\\\\,size=0.1"#, #"a\\"#), (#"a\\,b"#, #"a\,b"#), (#"a\"#, #"a\"#),
    ])
    func backslashesEscapeOnlyCommas(written: String, value: String) throws {
        let chain = try FilterChain(parsing: ["text,text=" + written])
        #expect(chain[FilterID(.text)]?.text?.source == value)
    }

    /// Random combinations of difficult characters: separators, escapes, and combining characters.
    @Test func anyValueSurvivesPrintingAndParsing() throws {
        var random = SeededGenerator(seed: 19)
        let pieces = [
            "\\", "\\", ",", ",", "=", " ", "  ", "a", "n", "ö", "\u{301}", "\"", "'", "{{", "}}", "size=1", "off",
        ]
        func value() -> String {
            (0...Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
        for _ in 0..<3000 {
            let (text, font) = (value(), value())
            var chain = FilterChain()
            try chain.set(FilterChange("text", [("text", text), ("font", font)]))
            let written = try #require(chain.settings.first).description
            #expect(try FilterChain(parsing: [written]) == chain, "\(written)")
        }
    }

    /// Text with every separator, in each way of writing it.
    @Test(arguments: [
        #"text,text="Studio: {time}, a=b",size=0.1"#, #"text text="Studio: {time}, a=b" size=0.1"#,
        #"  text  'text=Studio: {time}, a=b' , size=0.1 "#, #"text,text='Studio: {time}, a=b',size=0.1"#,
        #"TEXT,size=0.1,text="Studio: {time}, a=b""#,
    ])
    func quotesGroupWords(written: String) throws {
        let chain = try FilterChain(parsing: [written])
        #expect(chain.settings.map(\.description) == [#"text,text="Studio: {time}, a=b",size=0.1"#])
    }

    @Test(arguments: [
        (#"It's {time}"#, "It's {time}"), (#"\"live\""#, #""live""#), (#""a \"b\" c""#, #"a "b" c"#),
        (#"'a "b" c'"#, #"a "b" c"#),
        (#"say \'hi\'"#, "say 'hi'"), ("a  b,  c", "a  b,  c"), (#""  a ""#, "  a "), (#""a\b""#, #"a\b"#),
        ("a=b", "a=b"),
        ("12:30", "12:30"),
    ])
    func valueMayContainAnyCharacter(written: String, value: String) throws {
        for line in ["text,text=\(written),size=0.1", "text text=\(written) size=0.1", "text size=0.1 text=\(written)"]
        {
            #expect(try FilterChain(parsing: [line])[FilterID(.text)]?.text?.source == value, "\(line)")
        }
    }

    @Test(arguments: [#"text,text="Studio"#, #"text,text="a"b"#, "text,text='tis"])
    func openQuoteIsAnError(written: String) {
        do throws(FilterError) {
            let chain = try FilterChain(parsing: [written])
            Issue.record("\(chain)")
        } catch {
            #expect(error.description.hasPrefix("unclosed or misplaced quote in "))
        }
    }

    @Test(arguments: [
        ("blur", "unknown filter \"blur\"; available: image, text, lut, smooth, whiten, redden, crop, gray, mirror"),
        ("miror", "unknown filter \"miror\"; did you mean mirror?"),
        ("", "unknown filter \"\"; available: image, text, lut, smooth, whiten, redden, crop, gray, mirror"),
        ("text10,text=x", "filters text are numbered 1 to 9, not \"text10\""),
        ("text0,text=x", "filters text are numbered 1 to 9, not \"text0\""),
        ("text99999999999999999999,text=x", "filters text are numbered 1 to 9, not \"text99999999999999999999\""),
        ("gray2", "filter gray cannot have a number, such as \"gray2\""),
        ("smooth,0.5", "filter smooth: \"0.5\" is neither KEY=VALUE nor off"),
        ("smooth,strenght=1", "filter smooth has no setting \"strenght\"; did you mean strength?"),
        ("gray,strength=1", "filter gray has no setting \"strength\"; it has none at all"),
        ("smooth,strength=1.5", "filter smooth: strength must be a number from 0 to 1, not \"1.5\""),
        ("smooth,strength=nan", "filter smooth: strength must be a number from 0 to 1, not \"nan\""),
        ("smooth,strength=0x1", "filter smooth: strength must be a number from 0 to 1, not \"0x1\""),
        ("smooth,strength=0x1p-1", "filter smooth: strength must be a number from 0 to 1, not \"0x1p-1\""),
        ("smooth,strength=1e-1", "filter smooth: strength must be a number from 0 to 1, not \"1e-1\""),
        ("smooth,strength=inf", "filter smooth: strength must be a number from 0 to 1, not \"inf\""),
        ("smooth,strength=1,strength=0", "filter smooth: strength is given more than once"),
        ("image", "filter image needs file=…"), ("text,size=0.1", "filter text needs text=…"),
        ("text,text=", "filter text needs text=…"),
        ("text,text=x,color=blau", "filter text: color must be a color name, #RRGGBB, #RRGGBBAA or none, not \"blau\""),
        (
            "text,text=x,color=#12345",
            "filter text: color must be a color name, #RRGGBB, #RRGGBBAA or none, not \"#12345\""
        ),
        ("crop,left=0.5,width=0.6", "filter crop: width must be at most 0.5 with left=0.5, not \"0.6\""),
        (
            "image,file=x,position=1.5,0",
            """
            filter image: position must be top-left, top, top-right, left, center, right, bottom-left, bottom, \
            bottom-right, or X,Y within 0 to 1, not "1.5,0"
            """
        ),
        (
            "image,file=x,position=0x1,0",
            """
            filter image: position must be top-left, top, top-right, left, center, right, bottom-left, bottom, \
            bottom-right, or X,Y within 0 to 1, not "0x1,0"
            """
        ),
    ])
    func errorsAreExplained(written: String, expected: String) {
        do throws(FilterError) {
            let chain = try FilterChain(parsing: [written])
            Issue.record("\(chain)")
        } catch {
            #expect(error.description == expected)
        }
    }

    @Test(arguments: [
        "image,file=a\u{1B}[2J", "text\u{B}", "te\u{1B}xt", "text1\u{7}0", "text,text=x,\u{1B}=1", "text,te\u{9F}x=1",
        "text\u{B}1",
    ])
    func controlCharactersAreNotRepeated(written: String) {
        do throws(FilterError) {
            let chain = try FilterChain(parsing: [written])
            Issue.record("\(chain)")
        } catch {
            let isPrintable = error.description.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
            }
            #expect(isPrintable, "\(error)")
        }
    }
}

@Suite struct FilterChainTests {
    @Test func changesAddAlterAndRemove() throws {
        var chain = try FilterChain(parsing: ["mirror", "text,text=one,size=0.1"])
        try chain.set(FilterChange("text", [("size", "0.2"), ("text", "two")]))
        try chain.set(FilterChange("text2", words: ["text={time}"]))
        #expect(chain.settings.map(\.description) == ["mirror", "text,text=two,size=0.2", "text2,text={time}"])
        try chain.set(FilterChange("text", words: ["size="]))
        #expect(chain[FilterID(.text)]?.number(.size) == 0.05)
        try chain.set(FilterChange("MIRROR", words: ["OFF"]))
        #expect(chain.settings.map(\.id.description) == ["text", "text2"])
        #expect(throws: FilterError.notInChain(FilterID(.mirror))) { try chain.set(.off(FilterID(.mirror))) }
    }

    /// Otherwise the first one would be lost silently.
    @Test func sameNameTwiceIsAnError() throws {
        let texts = ["text,text=AAA", "text,text=BBB"]
        #expect(throws: FilterError.twice(FilterID(.text))) { _ = try FilterChain(parsing: texts) }
        #expect(
            FilterError.twice(FilterID(.text)).description
                == "filter text is given more than once; name several text, text2 and so on, up to text9")
        #expect(
            FilterError.twice(FilterID(.gray)).description
                == "filter gray is given more than once; only one is allowed")
        #expect(try FilterChain(parsing: ["text,text=AAA", "text2,text=BBB"]).settings.count == 2)
    }

    @Test func refusedChangeChangesNothing() throws {
        var chain = try FilterChain(parsing: ["crop,left=0.5,width=0.5", "text,text=x"])
        let before = chain
        #expect(throws: FilterError.self) { try chain.set(FilterChange("crop", [("left", "0.6")])) }
        #expect(throws: FilterError.missing(FilterID(.text), .text)) {
            try chain.set(FilterChange("text", [("text", "")]))
        }
        #expect(throws: FilterError.missing(FilterID(.image), .file)) { try chain.set(FilterChange("image", [])) }
        #expect(chain == before)
        try chain.set(FilterChange("crop", [("left", "0.6"), ("width", "0.4")]))
        #expect(chain[FilterID(.crop)]?.number(.left) == 0.6)
    }
}
