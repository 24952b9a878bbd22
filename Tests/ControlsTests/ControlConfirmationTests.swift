import Media
import Testing

@testable import Controls

@Suite struct ControlConfirmationTests {
    private let start = MediaTimestamp(milliseconds: 1000)

    private func reported(
        _ changes: [ControlChange], _ report: (Duration) -> CameraReport
    ) -> (after: Duration, readings: [String])? {
        var confirmation = ControlConfirmation(changes, at: start)
        for frame in 0..<200 {
            let age = Duration.milliseconds(33 * frame)
            if let readings = confirmation.readings(by: report(age), now: start + age) {
                return (age, readings.map(\.description))
            }
        }
        return nil
    }

    private func report(_ fill: (inout CameraReport) -> Void) -> CameraReport {
        var report = CameraReport()
        fill(&report)
        return report
    }

    @Test func changeIsConfirmedAsSoonAsTheCameraFollows() throws {
        let reported = try #require(
            reported([ControlChange(.exposureTime, .number(20))]) { age in
                report { $0.exposureTime = age < .milliseconds(500) ? .milliseconds(33) : .microseconds(19_987) }
            })
        #expect(reported.after == .milliseconds(528) && reported.readings == ["exposure-time 20 (19.987 ms)"])
    }

    @Test func ignoredChangeIsReportedWithTheRealValue() throws {
        let reported = try #require(reported([ControlChange(.gain, .number(8))]) { _ in report { $0.gain = 2 } })
        #expect(reported.after == .milliseconds(1023) && reported.readings == ["gain 8 (gain 2)"])
    }

    @Test func missingCameraIsNotWaitedFor() throws {
        let reported = try #require(
            reported([ControlChange(.gain, .number(8)), ControlChange(.focus, .word("auto"))]) { _ in
                report { $0.isAway = true }
            })
        #expect(reported.after == .zero)
        #expect(reported.readings == ["gain 8 (when the camera is back)", "focus auto (when the camera is back)"])
    }

    @Test func focusWaitsLongEnoughForALens() throws {
        let reported = try #require(
            reported([ControlChange(.focus, .word("auto"))]) { age in
                report {
                    $0.focusState = age < .seconds(2) ? .scanning : .focused
                    $0.lens = 2.5
                }
            })
        #expect(reported.after > .seconds(2) && reported.after < .milliseconds(2100))
        #expect(reported.readings == ["focus auto (focused, 2.5 dioptres)"])
    }

    /// It was just in focus elsewhere.
    @Test func earlierFocusDoesNotCount() throws {
        let point = ControlChange(.focusPoint, .area(FrameArea(around: .center)))
        let reported = try #require(
            reported([point]) { age in
                report {
                    $0.focusState = age > .milliseconds(400) && age < .milliseconds(1500) ? .scanning : .focused
                    $0.lens = age < .milliseconds(1500) ? 2 : 8
                }
            })
        #expect(reported.after > .milliseconds(1500) && reported.readings.first?.contains("8 dioptres") == true)
        let still = try #require(self.reported([point]) { _ in report { $0.focusState = .focused } })
        #expect(still.after >= .seconds(1) && still.after < .milliseconds(1100))
    }

    @Test func controlWithoutReportsIsConfirmedAfterSomeFrames() throws {
        let reported = try #require(reported([ControlChange(.mirror, .flag(true))]) { _ in CameraReport() })
        #expect(reported.after == .milliseconds(528) && reported.readings == ["mirror on"])
    }

    @Test func allControlsOfALineAreAwaited() throws {
        let changes = [ControlChange(.zoom, .number(2)), ControlChange(.brightness, .number(0.5))]
        let reported = try #require(
            reported(changes) { age in
                report {
                    $0.values[.zoom] = .number(2)
                    $0.values[.brightness] = .number(age < .milliseconds(700) ? 0 : 0.5)
                }
            })
        #expect(reported.after == .milliseconds(726) && reported.readings == ["zoom 2", "brightness 0.5"])
    }

    @Test func statusShowsTheRequestThenTheReportThenTheDefault() {
        let report = report {
            $0.values[.zoom] = .number(1.99)
            $0.exposureTime = .milliseconds(10)
        }
        let zoom = ControlStatus(ControlOffer(.zoom, range: 1...4), wished: .number(2), report: report)
        #expect("\(zoom)" == "zoom 2 (1 to 4; now 1.99)")
        let time = ControlStatus(ControlOffer(.exposureTime, range: 1...66), wished: nil, report: report)
        #expect("\(time)" == "exposure-time auto (1 to 66 ms, auto; now 10 ms)")
        let lens = ControlStatus(ControlOffer(.lens, isMissing: "it is fixed"), wished: .number(2), report: report)
        #expect("\(lens)" == "lens: unavailable, it is fixed" && lens.value == nil)
    }
}
