import CLinux
import Controls
import Media
import Testing

@testable import V4L2Devices

/// Maps the table's controls to V4L2's, with those of a webcam.
@Suite struct V4L2ControlMappingTests {
    private static func control(
        _ id: UInt32, _ range: ClosedRange<Int64>, step: Int64 = 1, kind: V4L2Control.Kind = .integer
    ) -> V4L2Control {
        V4L2Control(
            id: id, name: "x", kind: kind, minimum: range.lowerBound, maximum: range.upperBound, step: step,
            defaultValue: range.lowerBound)
    }

    private static let offered = [
        control(clinux_v4l2_cid_brightness, 0...255), control(clinux_v4l2_cid_gain, 0...100),
        control(clinux_v4l2_cid_exposure_auto, 0...3, kind: .menu),
        control(clinux_v4l2_cid_exposure_absolute, 3...2047),
        control(clinux_v4l2_cid_focus_auto, 0...1, kind: .boolean),
        control(clinux_v4l2_cid_focus_absolute, 0...250, step: 5), control(clinux_v4l2_cid_zoom_absolute, 100...500),
        control(clinux_v4l2_cid_auto_white_balance, 0...1, kind: .boolean),
        control(clinux_v4l2_cid_white_balance_temperature, 2000...6500),
        control(clinux_v4l2_cid_hflip, 0...1, kind: .boolean),
        control(clinux_v4l2_cid_auto_exposure_bias, 0...2, kind: .menu),
    ]

    private var mapping = V4L2ControlMapping(
        offered: offered,
        menus: [
            clinux_v4l2_cid_exposure_auto: [1: 1, 3: 3], clinux_v4l2_cid_auto_exposure_bias: [0: -1000, 1: 0, 2: 1000],
        ])

    private mutating func set(_ name: String, _ value: String) throws -> [[Int64]] {
        let change = try #require(try ControlChange(name, value))
        try mapping.offers.check([change])
        return mapping.settings(for: [change]).map { [Int64($0.id), $0.value] }
    }

    @Test func driversControlsAreOffered() {
        let offers = Dictionary(uniqueKeysWithValues: mapping.offers.map { ($0.name, $0) })
        #expect(offers[.lens]?.range == 0...10 && offers[.focus]?.words == ["continuous", "manual"])
        #expect(offers[.exposureTime]?.range == 0.3...204.7 && offers[.exposureValue]?.range == -1...1)
        #expect(offers[.zoom]?.range == 1...5 && offers[.whiteBalance]?.range == 2000...6500)
        #expect(offers[.gain]?.words == [], "it has no automatic gain of its own")
        #expect(offers[.flip]?.absence == "the camera does not have it" && offers[.mirror]?.absence == nil)
        #expect(offers[.focusPoint]?.absence == "the camera's driver does not support a point")
    }

    @Test mutating func eachChangeBecomesDriverControls() throws {
        let (auto, time) = (Int64(clinux_v4l2_cid_exposure_auto), Int64(clinux_v4l2_cid_exposure_absolute))
        #expect(try set("exposure", "auto") == [[auto, 3]])
        #expect(try set("exposure", "locked") == [[auto, 1]])
        #expect(try set("exposure-time", "1/50") == [[auto, 1], [time, 200]])
        #expect(try set("exposure-time", "auto") == [[auto, 3]])
        #expect(try set("exposure-value", "0.9") == [[Int64(clinux_v4l2_cid_auto_exposure_bias), 2]])
        let focus = (Int64(clinux_v4l2_cid_focus_auto), Int64(clinux_v4l2_cid_focus_absolute))
        #expect(try set("focus", "continuous") == [[focus.0, 1]])
        // Rounded to the driver's steps.
        #expect(try set("lens", "2.5") == [[focus.0, 0], [focus.1, 60]])
        #expect(try set("zoom", "2.5") == [[Int64(clinux_v4l2_cid_zoom_absolute), 250]])
        #expect(try set("mirror", "on") == [[Int64(clinux_v4l2_cid_hflip), 1]])
        #expect(
            try set("white-balance", "5600K") == [
                [Int64(clinux_v4l2_cid_auto_white_balance), 0],
                [Int64(clinux_v4l2_cid_white_balance_temperature), 5600],
            ])
        #expect(throws: ControlError.self) { try set("white-balance", "1/2") }
        #expect(throws: ControlError.self) { try set("focus", "auto") }
    }

    @Test func croppingDriverZooms() throws {
        let crop = try #require(
            V4L2Crop(
                whole: FrameArea(left: 8, top: 4, width: 1280, height: 720), frame: FrameSize(width: 640, height: 360)))
        var mapping = V4L2ControlMapping(offered: [], crop: crop)
        #expect(mapping.offers.first { $0.name == .zoom }?.range == 1...2)
        #expect(mapping.offers.first { $0.name == .zoomCenter }?.absence == nil)
        #expect(mapping.croppedArea == crop.whole)
        let changes = [ControlChange(.zoom, .number(2)), ControlChange(.zoomCenter, .point(FramePoint(x: 1, y: 0.5)))]
        #expect(mapping.settings(for: changes).isEmpty)
        #expect(mapping.croppedArea == FrameArea(left: 648, top: 184, width: 640, height: 360))
        let report = mapping.report(crop: mapping.croppedArea) { _ in nil }
        #expect(report.values[.zoom] == .number(2) && report.values[.zoomCenter] == .point(FramePoint(x: 0.75, y: 0.5)))
    }

    @Test func cropNoLargerThanTheFrameCannotZoom() {
        let whole = FrameArea(left: 0, top: 0, width: 640, height: 480)
        #expect(V4L2Crop(whole: whole, frame: FrameSize(width: 640, height: 360)) == nil)
        #expect(
            V4L2Crop(whole: FrameArea(left: 0, top: 0, width: 0, height: 0), frame: FrameSize(width: 2, height: 2))
                == nil)
    }

    @Test func zoomLensTakesPrecedenceOverACrop() throws {
        let crop = V4L2Crop(
            whole: FrameArea(left: 0, top: 0, width: 1280, height: 720), frame: FrameSize(width: 640, height: 360))
        var mapping = V4L2ControlMapping(offered: [Self.control(clinux_v4l2_cid_zoom_absolute, 100...500)], crop: crop)
        #expect(mapping.settings(for: [ControlChange(.zoom, .number(3))]).map(\.value) == [300])
        #expect(mapping.croppedArea == nil && mapping.offers.first { $0.name == .zoomCenter }?.absence != nil)
    }

    @Test func automaticStateIsReadFromTheDriver() {
        let manual: [UInt32: Int64] = [
            clinux_v4l2_cid_exposure_auto: 1, clinux_v4l2_cid_focus_auto: 0, clinux_v4l2_cid_auto_exposure_bias: 2,
            clinux_v4l2_cid_auto_white_balance: 0,
        ]
        let locked = mapping.report { manual[$0] }.values
        #expect(locked[.exposure] == .word("locked") && locked[.focus] == .word("manual"))
        #expect(locked[.exposureValue] == .number(1) && locked[.whiteBalance] == .word("locked"))
        let automatic: [UInt32: Int64] = [clinux_v4l2_cid_exposure_auto: 3, clinux_v4l2_cid_focus_auto: 1]
        let free = mapping.report { automatic[$0] }.values
        #expect(free[.exposure] == .word("auto") && free[.focus] == .word("continuous") && free[.whiteBalance] == nil)
    }

    @Test func driversValuesAreReportedInTheTablesUnits() {
        let report = mapping.report { id in
            [
                clinux_v4l2_cid_exposure_absolute: 200, clinux_v4l2_cid_focus_absolute: 125,
                clinux_v4l2_cid_zoom_absolute: 150, clinux_v4l2_cid_hflip: 1,
            ][id]
        }
        #expect(report.exposureTime == .milliseconds(20) && report.lens == 5)
        #expect(report.values[.zoom] == .number(1.5) && report.values[.mirror] == .flag(true))
        #expect(report.gain == nil && report.values[.brightness] == nil)
    }
}
