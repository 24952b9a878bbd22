import Testing

@testable import Controls

@Suite struct ControlTableTests {
    @Test func eachNameHasOneRowInOrder() {
        #expect(ControlDescription.all.map(\.name) == ControlName.allCases)
        for name in ControlName.allCases { #expect(ControlDescription.of(name).name == name) }
    }

    @Test func defaultsAreValidValues() throws {
        for row in ControlDescription.all {
            guard let usual = row.usual else { continue }
            #expect(try ControlChange(row.name.rawValue, usual) != nil, "\(row.name) \(usual)")
        }
    }

    @Test(arguments: [
        ("focus", "Auto", "focus auto"), ("FOCUS-POINT", "0.5,0.25", "focus-point 0.4,0.15,0.2,0.2"),
        ("focus-point", "0,0", "focus-point 0,0,0.1,0.1"),
        ("focus-point", "0.1,0.2,0.3,0.4", "focus-point 0.1,0.2,0.3,0.4"),
        ("focus-point", "auto", "focus-point auto"), ("lens", "2.50", "lens 2.5"),
        ("exposure", "locked", "exposure locked"),
        ("exposure-time", "1/50", "exposure-time 20"), ("exposure-time", "8ms", "exposure-time 8"),
        ("exposure-time", "auto", "exposure-time auto"), ("gain", "4", "gain 4"),
        ("exposure-value", "-0.5", "exposure-value -0.5"),
        ("white-balance", "1.5/2", "white-balance 1.5/2"), ("white-balance", "5600K", "white-balance 5600K"),
        ("white-balance", "daylight", "white-balance daylight"), ("zoom-center", "0.25,1", "zoom-center 0.25,1"),
        ("microphone-gain", "-6", "microphone-gain -6"), ("microphone-gain", "2:3.5", "microphone-gain 2:3.5"),
        ("mute", "2:ON", "mute 2:on"), ("torch", "auto", "torch auto"), ("mirror", "ON", "mirror on"),
        ("denoise", "high-quality", "denoise high-quality"),
    ])
    func valuesAreParsedAndPrintedAgain(name: String, value: String, expected: String) throws {
        let change = try #require(try ControlChange(name, value))
        #expect("\(change)" == expected)
        // The printed form parses to the same value.
        let words = expected.split(separator: " ").map(String.init)
        #expect(try ControlChange(words[0], words[1])?.description == expected)
    }

    @Test(arguments: [
        ("focus-point", "1.2,0.5"), ("focus-point", "0.5"), ("focus-point", "0.5,0.5,0.6,0.1"),
        ("focus-point", "0.5,0.5,0,0.1"), ("focus-point", "nan,0"), ("focus-point", "0.1,0.1,0.1"), ("lens", "near"),
        ("lens", "inf"), ("lens", ""), ("exposure-time", "1/0"), ("exposure-time", "-1"), ("exposure-time", "0"),
        ("gain", "2x"), ("white-balance", "1/2/3"), ("white-balance", "0/1"), ("white-balance", "2"),
        ("zoom", "1e999"), ("zoom", "0x2"), ("lens", "1e1"), ("zoom-center", "0x1,0"), ("zoom-center", "2,2"),
        ("mirror", "yes"), ("denoise", ""),
        ("focus", String(repeating: "a", count: 100)), ("microphone-gain", "0:3"),
        ("microphone-gain", "1:"), ("mute", "1:yes"), ("torch", ""),
    ])
    func invalidValuesAreRefusedWithTheRule(name: String, value: String) {
        do throws(ControlError) {
            let change = try ControlChange(name, value)
            Issue.record("\(String(describing: change))")
        } catch {
            guard case .unusableValue(_, let shown, let rule) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(shown == value && !rule.isEmpty)
        }
    }

    @Test func unknownNameIsNotAControl() throws { #expect(try ControlChange("focal", "1") == nil) }

    private let offers = [
        ControlOffer(.focus, words: ["auto", "manual"]), ControlOffer(.lens, range: 0...15),
        ControlOffer(.whiteBalance, words: ["auto", "locked", "daylight", ControlOffer.gainsMark], range: 2500...8000),
    ].completed { _ in "there is none" }

    private func refusal(_ name: String, _ value: String) throws -> String? {
        let change = try #require(try ControlChange(name, value))
        do throws(ControlError) {
            try offers.check([change])
            return nil
        } catch {
            return error.description
        }
    }

    @Test func cameraAcceptsWhatItOffers() throws {
        let good = [
            ("focus", "auto"), ("lens", "15"), ("white-balance", "daylight"), ("white-balance", "1/2"),
            ("white-balance", "2500K"),
        ]
        for (name, value) in good { #expect(try refusal(name, value) == nil, "\(name) \(value)") }
    }

    @Test func otherValuesAreRefusedWithTheAlternatives() throws {
        #expect(try refusal("focus", "continuous") == #"focus must be auto, manual, not "continuous""#)
        #expect(try refusal("lens", "16") == #"lens must be 0 to 15 dioptres, not "16""#)
        #expect(try refusal("white-balance", "9000K")?.contains("2500 to 8000K") == true)
        #expect(try refusal("white-balance", "0.01/1") != nil)
        #expect(try refusal("zoom", "2") == "zoom is unavailable: there is none; available: focus, lens, white-balance")
    }

    @Test func allControlsAreMissingWithoutACamera() {
        let offers = [ControlOffer].allMissing("no camera")
        #expect(offers.map(\.name) == ControlName.allCases && offers.allSatisfy { $0.absence == "no camera" })
        #expect(throws: ControlError.missing(.zoom, reason: "no camera", offered: [])) {
            try offers.check([ControlChange(.zoom, .number(2))])
        }
    }

    @Test func newestRequestReplacesContradictingOnes() throws {
        var wished = WishedControls()
        wished.take([ControlChange(.lens, .number(2)), ControlChange(.exposureTime, .number(20))])
        wished.take([ControlChange(.focus, .word("continuous")), ControlChange(.zoom, .number(2))])
        #expect(wished.changes.map { "\($0)" } == ["focus continuous", "exposure-time 20", "zoom 2"])
        wished.take([ControlChange(.lens, .number(3))])
        #expect(wished.changes.map { "\($0)" }.prefix(2) == ["focus manual", "lens 3"])
        wished.take([ControlChange(.focus, .word("continuous"))])
        wished.take([ControlChange(.exposure, .word("auto")), ControlChange(.zoom, .number(3))])
        #expect(wished.changes.map { "\($0)" } == ["focus continuous", "exposure auto", "zoom 3"])
    }
}
