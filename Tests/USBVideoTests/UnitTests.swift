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

    @Test func aUnitHasWhatTheCameraHas() {
        // AE mode, exposure time, zoom; focus in the third byte.
        #expect(UnitControl.mask(of: .camera, having: Self.statuses) == [0b0000_1010, 0b0000_0010, 0b10])
        // Brightness and both of white balance.
        #expect(UnitControl.mask(of: .processing, having: Self.statuses) == [0b0100_0001, 0b0001_0000, 0])
        #expect(UnitControl.mask(of: .camera, having: []) == [0, 0, 0])
    }

    @Test(arguments: [
        (2, 2, [25, 0], [0x9C, 0xFF], [100, 0], [0, 0]), (1, 11, [100, 0], [100, 0], [0x90, 1], [100, 0]),
        (1, 4, [200, 0, 0, 0], [1, 0, 0, 0], [0x94, 2, 0, 0], [0x4A, 1, 0, 0]), (1, 8, [0], [0], [1], [1]),
    ])
    func numbersAreTheClasss(
        entity: Int, selector: Int, now: [UInt8], lowest: [UInt8], highest: [UInt8], usual: [UInt8]
    ) {
        var computer = Self.computer()
        let answers = [0x81, 0x82, 0x83, 0x87].map {
            computer.read($0, selector: UInt8(selector), entity: UInt8(entity), interface: 0)
        }
        #expect(answers == [now, lowest, highest, usual])
    }

    /// A driver's numbers have no common scale.
    @Test func theUsualNumberIsTheDriversOwn() {
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
    func whiteBalanceIsAutomaticOrItIsNot(value: ControlValue, number: UInt8) {
        var computer = Computer()
        let offer = ControlOffer(.whiteBalance, words: ["auto", "locked", "daylight"], range: 2500...8000)
        computer.function.controlsChanged([ControlStatus(offer, value: value, reported: nil)])
        #expect(computer.read(0x81, selector: 11, entity: 2, interface: 0) == [number])
    }

    @Test func theModesOfExposureAreBits() {
        var computer = Self.computer()
        #expect(computer.read(0x84, selector: 2, entity: 1, interface: 0) == [9])
        #expect(computer.read(0x81, selector: 2, entity: 1, interface: 0) == [1])
    }

    @Test(arguments: [
        ([0xCE, 0xFF], 2, 2, "brightness -0.5"), ([0xFA, 0], 1, 11, "zoom 2.5"), ([8], 1, 2, "exposure auto"),
        ([1], 1, 8, "focus continuous"), ([0x88, 0x13], 2, 10, "white-balance 5000K"),
        ([0], 2, 11, "white-balance locked"),
        ([0xF4, 1, 0, 0], 1, 4, "exposure-time 50"),
    ])
    func whatTheComputerMovesMovesTheCamera(bytes: [UInt8], entity: Int, selector: Int, change: String) {
        var computer = Self.computer()
        let actions = computer.write(bytes, selector: UInt8(selector), entity: UInt8(entity), interface: 0)
        #expect(actions.map { "\($0)" }.joined().contains(change) || actions == [], "\(actions)")
        guard case .change(let found) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect("\(found)" == change)
    }

    @Test func anErrorHasAReason() {
        var computer = Self.computer()
        func reason() -> [UInt8]? { computer.read(0x81, selector: 2, interface: 0) }
        #expect(reason() == [0])
        #expect(computer.ask(0x81, selector: 4, entity: 2, interface: 0).last == .answer(.stall))
        #expect(reason() == [6])
        #expect(computer.ask(0x81, selector: 4, entity: 9, interface: 0).last == .answer(.stall))
        #expect(reason() == [5])
        // Five times as large: the request has succeeded by the time its number is known.
        #expect(computer.write([0xF4, 1], selector: 11, entity: 1, interface: 0) == [])
        #expect(reason() == [4])
        #expect(computer.read(0x81, selector: 11, entity: 1, interface: 0) == [100, 0])
        #expect(reason() == [0])
    }

    @Test func aWrongLengthIsRefused() {
        var computer = Self.computer()
        #expect(computer.ask(1, selector: 11, entity: 1, interface: 0, length: 1).last == .answer(.stall))
        #expect(computer.ask(1, selector: 1, interface: 1, length: 25).last == .answer(.stall))
    }

    @Test func dataWithoutARequestAreNothing() {
        var computer = Self.computer()
        #expect(computer.function.handle(.data([1, 2, 3])) == [])
    }
}
