import Controls
import Testing

@testable import USBVideo

@Suite struct UnitTests {
    static let statuses = [
        ControlStatus(ControlOffer(.brightness, range: -1...1), value: .number(0.25), reported: nil),
        ControlStatus(ControlOffer(.zoom, range: 1...4), value: nil, reported: nil),
        ControlStatus(
            ControlOffer(.whiteBalance, words: ["auto", "locked"], range: 2500...8000), value: .word("auto"),
            reported: nil),
        ControlStatus(
            ControlOffer(.focus, words: ["auto", "continuous", "manual"]), value: .word("manual"), reported: nil),
        ControlStatus(ControlOffer(.exposureTime, range: 0.1...66), value: .number(20), reported: nil),
        ControlStatus(ControlOffer(.exposure), value: .word("locked"), reported: nil),
        ControlStatus(ControlOffer(.gain, isMissing: "of this camera"), value: nil, reported: nil),
    ]

    private static func computer() -> Computer {
        var computer = Computer()
        computer.function.controlsChanged(statuses)
        return computer
    }

    @Test func unitsAnnounceTheCamerasControls() {
        // AE mode, exposure time, zoom; focus in the third byte.
        #expect(UnitControl.mask(of: .camera, having: Self.statuses) == [0b0000_1010, 0b0000_0010, 0b10])
        // Brightness, and both white balance controls.
        #expect(UnitControl.mask(of: .processing, having: Self.statuses) == [0b0100_0001, 0b0001_0000, 0])
        #expect(UnitControl.mask(of: .camera, having: []) == [0, 0, 0])
    }

    @Test(arguments: [
        (2, 2, [25, 0], [0x9C, 0xFF], [100, 0], [0, 0]), (1, 11, [100, 0], [100, 0], [0x90, 1], [100, 0]),
        (1, 4, [200, 0, 0, 0], [1, 0, 0, 0], [0x94, 2, 0, 0], [0x4A, 1, 0, 0]), (1, 8, [0], [0], [1], [1]),
    ])
    func numbersUseTheClasssScale(
        entity: Int, selector: Int, now: [UInt8], lowest: [UInt8], highest: [UInt8], usual: [UInt8]
    ) {
        var computer = Self.computer()
        let answers = [0x81, 0x82, 0x83, 0x87].map {
            computer.read($0, selector: UInt8(selector), entity: UInt8(entity), interface: 0)
        }
        #expect(answers == [now, lowest, highest, usual])
    }

    /// Drivers' numbers have no common scale.
    @Test func defaultIsTheDrivers() {
        var computer = Computer()
        let offer = ControlOffer(.contrast, range: 0...255, usual: 128)
        computer.function.controlsChanged([ControlStatus(offer, value: .number(1), reported: nil)])
        #expect(computer.read(0x87, selector: 3, entity: 2, interface: 0) == [0, 0x32])
        #expect(computer.read(0x81, selector: 3, entity: 2, interface: 0) == [100, 0])
    }

    @Test(arguments: [
        (ControlValue.word("auto"), UInt8(1)), (.word("locked"), 0), (.word("daylight"), 0), (.temperature(4000), 0),
        (.gains(red: 2, blue: 1.5), 0),
    ])
    func whiteBalanceIsEitherAutomaticOrNot(value: ControlValue, number: UInt8) {
        var computer = Computer()
        let offer = ControlOffer(.whiteBalance, words: ["auto", "locked", "daylight"], range: 2500...8000)
        computer.function.controlsChanged([ControlStatus(offer, value: value, reported: nil)])
        #expect(computer.read(0x81, selector: 11, entity: 2, interface: 0) == [number])
    }

    @Test func exposureModesAreBits() {
        var computer = Self.computer()
        #expect(computer.read(0x84, selector: 2, entity: 1, interface: 0) == [9])
        #expect(computer.read(0x81, selector: 2, entity: 1, interface: 0) == [1])
    }

    @Test(arguments: [
        ([0xCE, 0xFF], 2, 2, "brightness -0.5"), ([0xFA, 0], 1, 11, "zoom 2.5"), ([8], 1, 2, "exposure auto"),
        ([1], 1, 8, "focus continuous"), ([0], 2, 11, "white-balance locked"),
        ([0xF4, 1, 0, 0], 1, 4, "exposure-time 50"),
    ])
    func computersChangesReachTheCamera(bytes: [UInt8], entity: Int, selector: Int, change: String) {
        var computer = Self.computer()
        let actions = computer.write(bytes, selector: UInt8(selector), entity: UInt8(entity), interface: 0)
        guard case .change(let found) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect("\(found)" == change)
    }

    /// UVC 1.5, section 4.2.1.2.
    @Test func errorReasonRemainsUntilItIsRead() {
        var computer = Self.computer()
        func reason() -> [UInt8]? { computer.read(0x81, selector: 2, interface: 0) }
        func stalls(_ request: UInt8, selector: UInt8, entity: UInt8 = 0, interface: UInt8 = 0) -> Bool {
            computer.ask(request, selector: selector, entity: entity, interface: interface).last == .answer(.stall)
        }
        #expect(reason() == [0])
        #expect(stalls(0x81, selector: 4, entity: 2))
        #expect(reason() == [6])
        #expect(reason() == [0], "reading it is a success, too")
        #expect(stalls(0x81, selector: 4, entity: 9))
        #expect(reason() == [5])
        // The output terminal exists but has no controls.
        #expect(stalls(0x81, selector: 1, entity: 3))
        #expect(reason() == [6])
        // Five times as large: the request has succeeded before its number is known.
        #expect(computer.write([0xF4, 1], selector: 11, entity: 1, interface: 0) == [])
        #expect(reason() == [4])
        #expect(computer.read(0x81, selector: 11, entity: 1, interface: 0) == [100, 0])
        // A success on either interface clears it.
        for interface: UInt8 in [0, 1] {
            #expect(stalls(0x99, selector: 11, entity: 1))
            _ = computer.read(
                0x81, selector: interface == 0 ? 11 : 1, entity: interface == 0 ? 1 : 0, interface: interface)
            #expect(reason() == [0])
        }
        #expect(stalls(0x99, selector: 1, interface: 1))
        #expect(reason() == [7])
        #expect(computer.read(0x85, selector: 2, interface: 0) == [1, 0])
        #expect(computer.read(0x86, selector: 2, interface: 0) == [1])
        #expect(stalls(1, selector: 2))
    }

    // MARK: Automatic control

    private static let automatic: [ControlStatus] = [
        ControlStatus(ControlOffer(.exposure), value: .word("auto"), reported: nil),
        ControlStatus(ControlOffer(.exposureTime, range: 0.1...66), value: .word("auto"), reported: nil),
        ControlStatus(ControlOffer(.gain, range: 1...16), value: .word("auto"), reported: nil),
        ControlStatus(ControlOffer(.focus), value: .word("continuous"), reported: nil),
        ControlStatus(ControlOffer(.lens, range: 0...10), value: nil, reported: nil),
        ControlStatus(
            ControlOffer(.whiteBalance, words: ["auto", "locked"], range: 2500...8000), value: .word("auto"),
            reported: nil),
        ControlStatus(ControlOffer(.brightness, range: -1...1), value: .number(0), reported: nil),
    ]

    struct Number: CustomTestStringConvertible {
        let testDescription: String
        let (entity, selector, bytes): (UInt8, UInt8, [UInt8])
        /// The selector of the automatic mode, and the number that turns it off.
        let (master, manual, on): (UInt8, UInt8, UInt8)
    }

    static let numbers = [
        Number(
            testDescription: "exposure-time 20", entity: 1, selector: 4, bytes: [200, 0, 0, 0], master: 2, manual: 1,
            on: 8),
        Number(testDescription: "gain 2", entity: 2, selector: 4, bytes: [200, 0], master: 2, manual: 1, on: 8),
        Number(testDescription: "lens 2", entity: 1, selector: 6, bytes: [200, 0], master: 8, manual: 0, on: 1),
        Number(
            testDescription: "white-balance 5000K", entity: 2, selector: 10, bytes: [0x88, 0x13], master: 11, manual: 0,
            on: 1),
    ]

    /// A program that restores all its settings must not turn the automatic off.
    @Test(arguments: numbers) func automaticControlsCannotBeSet(number: Number) {
        var computer = Computer()
        computer.function.controlsChanged(Self.automatic)
        func isSet() -> Bool {
            computer.moves(number.bytes, number.selector, of: number.entity) == number.testDescription
        }
        func information() -> [UInt8]? {
            computer.read(0x86, selector: number.selector, entity: number.entity, interface: 0)
        }
        let master: UInt8 = number.selector == 10 ? 2 : 1
        #expect(!isSet())
        #expect(computer.read(0x81, selector: 2, interface: 0) == [2])
        #expect(information() == [7])
        #expect(computer.read(0x81, selector: number.selector, entity: number.entity, interface: 0) != nil)
        #expect(computer.moves([number.manual], number.master, of: master) != nil)
        #expect(information() == [3] && isSet() && isSet())
        #expect(computer.moves([number.on], number.master, of: master) != nil)
        #expect(computer.read(0x81, selector: number.master, entity: master, interface: 0) == [number.on])
        #expect(information() == [7] && !isSet())
        // Other controls can be set at any time.
        #expect(computer.moves([10, 0], 2, of: 2) != nil)
    }

    /// Some cameras control the exposure time but not the gain; and some automatics could not be turned off by the computer.
    @Test func controlsThatAreNeverAutomaticCanBeSet() {
        var computer = Computer()
        computer.function.controlsChanged([
            Self.automatic[0], Self.automatic[1],
            ControlStatus(ControlOffer(.gain, words: [], range: 1...16), value: nil, reported: nil),
            // Its focus has only one of the class's modes.
            ControlStatus(ControlOffer(.focus, words: ["auto"]), value: .word("auto"), reported: nil),
            ControlStatus(ControlOffer(.lens, range: 0...10), value: nil, reported: nil),
        ])
        #expect(computer.moves([200, 0], 4, of: 2) != nil)
        #expect(computer.moves([200, 0], 6, of: 1) != nil)
        #expect(computer.ask(1, selector: 4, entity: 1, interface: 0, length: 4).last == .answer(.stall))
    }

    /// If the time was set at the camera, or its exposure is not reported, the camera is not automatic.
    @Test func fixedTimeMeansManualExposure() {
        var computer = Computer()
        let time = ControlStatus(ControlOffer(.exposureTime, range: 0.1...66), value: .number(20), reported: nil)
        computer.function.controlsChanged([Self.automatic[0], time, Self.automatic[2]])
        #expect(computer.read(0x81, selector: 2, entity: 1, interface: 0) == [1])
        #expect(computer.read(0x86, selector: 4, entity: 1, interface: 0) == [3])
        #expect(computer.moves([200, 0, 0, 0], 4, of: 1) != nil)
    }

    // MARK: Ranges

    private static func computer(_ offer: ControlOffer, _ value: ControlValue? = nil) -> Computer {
        var computer = Computer()
        computer.function.controlsChanged([ControlStatus(offer, value: value, reported: nil)])
        return computer
    }

    /// The driver's whole range fits into the field, in steps as fine as possible.
    @Test(arguments: [
        (1.0...16, 100, 1600), (0...255, 0, 25_500), (0...655, 0, 65_500), (0...1023, 0, 10_230),
        (16...6553, 160, 65_530), (0...65_535, 0, 65_535), (0...100_000, 0, 65_535), (-64...64, 0, 6400),
    ])
    func rangeFitsIntoItsField(range: ClosedRange<Double>, lowest: Int, highest: Int) throws {
        var computer = Self.computer(ControlOffer(.gain, words: [], range: range))
        func number(_ request: UInt8) -> Int? {
            computer.read(request, selector: 4, entity: 2, interface: 0).map { Int($0[0]) | Int($0[1]) << 8 }
        }
        #expect(number(0x82) == lowest && number(0x83) == highest)
        let bytes = [UInt8(highest & 0xFF), UInt8(highest >> 8)]
        let actions = computer.write(bytes, selector: 4, entity: 2, interface: 0)
        let top = min(range.upperBound, 65_535)
        #expect(actions == [.change(ControlChange(.gain, .number(top)))])
        #expect(number(0x81) == highest)
    }

    @Test func signedFieldHoldsLess() {
        var computer = Self.computer(ControlOffer(.brightness, range: -512...511, usual: 100))
        // -5120, 5110 and 1000.
        #expect(computer.read(0x82, selector: 2, entity: 2, interface: 0) == [0, 0xEC])
        #expect(computer.read(0x83, selector: 2, entity: 2, interface: 0) == [0xF6, 0x13])
        #expect(computer.read(0x87, selector: 2, entity: 2, interface: 0) == [0xE8, 0x03])
    }

    /// Some drivers report a default that they do not accept.
    @Test(arguments: [(-7.0, 0), (300, 25_500), (12, 1200)])
    func defaultOutsideTheRangeIsClamped(usual: Double, number: Int) {
        var computer = Self.computer(ControlOffer(.saturation, range: 0...255, usual: usual))
        let bytes = computer.read(0x87, selector: 7, entity: 2, interface: 0)
        #expect(bytes == [UInt8(number & 0xFF), UInt8(number >> 8)])
    }

    @Test func wrongLengthIsRefused() {
        var computer = Self.computer()
        #expect(computer.ask(1, selector: 11, entity: 1, interface: 0, length: 1).last == .answer(.stall))
        #expect(computer.ask(1, selector: 1, interface: 1, length: 25).last == .answer(.stall))
    }

    @Test func dataWithoutARequestIsIgnored() {
        var computer = Self.computer()
        #expect(computer.function.handle(.data([1, 2, 3])) == [])
    }
}
