import ApplianceLogic
import Media
import Testing

@Suite("Button gestures")
struct ButtonGesturesTests {
    /// Plays line changes (milliseconds, level), fires timers when due, and records gestures with their time.
    private func play(
        _ changes: [(Int64, Bool)], until end: Int64 = 20_000, startsPressed: Bool = false,
        hearsDoublePress: Bool = false
    ) -> [String] {
        var gestures = ButtonGestures(isPressed: startsPressed, hearsDoublePress: hearsDoublePress)
        var timer: MediaTimestamp?
        var log: [String] = []
        func note(_ actions: [ButtonGestures.Action], at now: MediaTimestamp) {
            for action in actions {
                if case .setTimer(let deadline) = action {
                    timer = deadline
                } else {
                    log.append("\(now.nanoseconds / 1_000_000) \(action)")
                }
            }
        }
        func fireTimers(before time: MediaTimestamp) {
            while let due = timer, due < time {
                timer = nil
                note(gestures.timerFired(now: due), at: due)
            }
        }
        for (milliseconds, isPressed) in changes {
            let now = MediaTimestamp(milliseconds: milliseconds)
            fireTimers(before: now)
            note(gestures.levelChanged(isPressed: isPressed, now: now), at: now)
        }
        fireTimers(before: MediaTimestamp(milliseconds: end))
        return log
    }

    @Test func shortPressIsAcknowledgedAtOnceAndCountsOnRelease() {
        #expect(play([(100, true), (300, false)]) == ["100 acknowledgePress", "300 shortPress"])
    }

    @Test func bouncesCountOnce() {
        let bouncing: [(Int64, Bool)] = [
            (100, true), (102, false), (104, true), (109, false), (111, true),
            (300, false), (301, true), (305, false), (310, true), (318, false),
        ]
        #expect(play(bouncing) == ["100 acknowledgePress", "300 shortPress"])
    }

    @Test func releaseDuringBouncesIsDetected() {
        // The last change of the release is ignored as a bounce, and so is that of the next press.
        #expect(
            play([(100, true), (300, false), (310, true), (600, false)])
                == ["100 acknowledgePress", "300 shortPress", "330 acknowledgePress", "600 shortPress"])
    }

    @Test func noiseIsNotAPress() {
        #expect(play([(100, true), (101, false)]) == ["100 acknowledgePress", "130 forgetPress"])
    }

    @Test func twoPressesCountTwiceByDefault() {
        #expect(
            play([(0, true), (80, false), (160, true), (240, false)])
                == ["0 acknowledgePress", "80 shortPress", "160 acknowledgePress", "240 shortPress"])
    }

    @Test func longPressBlinksWhenReachedAndCountsOnRelease() {
        #expect(
            play([(0, true), (3500, false)]) == ["0 acknowledgePress", "3000 acknowledgeLongPress", "3500 longPress"])
        #expect(play([(0, true), (2999, false)]).last == "2999 shortPress")
        #expect(play([(0, true), (3001, false)]).last == "3001 longPress")
        #expect(play([(0, true), (9999, false)]).last == "9999 longPress")
    }

    @Test func tooLongPressDoesNothing() {
        let held = ["0 acknowledgePress", "3000 acknowledgeLongPress", "10000 forgetPress"]
        #expect(play([(0, true)]) == held)
        #expect(play([(0, true), (12_000, false)]) == held)
        #expect(
            play([(0, true), (12_000, false), (13_000, true), (13_200, false)])
                == held + ["13000 acknowledgePress", "13200 shortPress"])
    }

    private static let first: [(Int64, Bool)] = [(0, true), (80, false)]

    @Test func twoQuickPressesAreADoublePressIfUsed() {
        let answered = ["0 acknowledgePress", "280 acknowledgePress", "360 doublePress"]
        #expect(play(Self.first + [(280, true), (360, false)], hearsDoublePress: true) == answered)
        // The window ends before the second press.
        #expect(
            play(Self.first + [(381, true), (460, false)], hearsDoublePress: true) == [
                "0 acknowledgePress", "380 shortPress", "381 acknowledgePress", "760 shortPress",
            ])
    }

    @Test func singlePressIsAcknowledgedAtOnceAndWaitsForASecond() {
        #expect(play(Self.first, hearsDoublePress: true) == ["0 acknowledgePress", "380 shortPress"])
        #expect(play(Self.first) == ["0 acknowledgePress", "80 shortPress"])
    }

    @Test func threePressesAreADoubleAndASingleOne() {
        let presses: [(Int64, Bool)] = [(200, true), (280, false), (400, true), (480, false)]
        #expect(
            play(Self.first + presses, hearsDoublePress: true) == [
                "0 acknowledgePress", "200 acknowledgePress", "280 doublePress", "400 acknowledgePress",
                "780 shortPress",
            ])
    }

    @Test func noiseAfterAPressIsNotASecondPress() {
        #expect(
            play(Self.first + [(370, true), (371, false)], hearsDoublePress: true) == [
                // The overdue timer fires at once.
                "0 acknowledgePress", "370 acknowledgePress", "400 forgetPress", "380 shortPress",
            ])
    }

    @Test func heldSecondPressIsALongPress() {
        let held = ["0 acknowledgePress", "200 acknowledgePress", "3200 acknowledgeLongPress"]
        #expect(play(Self.first + [(200, true), (4000, false)], hearsDoublePress: true) == held + ["4000 longPress"])
        #expect(
            play(Self.first + [(200, true), (15_000, false)], hearsDoublePress: true) == held + ["10200 forgetPress"])
    }

    @Test func edgeBeforeALateTimerEndsTheWindow() {
        var gestures = ButtonGestures(isPressed: false, hearsDoublePress: true)
        _ = gestures.levelChanged(isPressed: true, now: .zero)
        #expect(
            gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 100))
                == [.setTimer(MediaTimestamp(milliseconds: 130))])
        let late = gestures.levelChanged(isPressed: true, now: MediaTimestamp(milliseconds: 900))
        #expect(late.starts(with: [.shortPress, .acknowledgePress]))
    }

    @Test func waitingPressCountsWhenDoublePressesAreTurnedOff() {
        var gestures = ButtonGestures(isPressed: false, hearsDoublePress: true)
        _ = gestures.levelChanged(isPressed: true, now: .zero)
        _ = gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 100))
        gestures.hearsDoublePress = false
        #expect(gestures.timerFired(now: MediaTimestamp(milliseconds: 400)).contains(.shortPress))
    }

    @Test func buttonDownAtTheStartIsIgnoredUntilReleased() {
        #expect(play([(5000, false)], startsPressed: true) == [])
        #expect(
            play([(5000, false), (6000, true), (6100, false)], startsPressed: true)
                == ["6000 acknowledgePress", "6100 shortPress"])
    }

    @Test func timeHeldDecidesEvenIfTimersAreLate() {
        var gestures = ButtonGestures(isPressed: false)
        _ = gestures.levelChanged(isPressed: true, now: .zero)
        #expect(gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 4000)).contains(.longPress))
        _ = gestures.timerFired(now: MediaTimestamp(milliseconds: 4100))
        _ = gestures.levelChanged(isPressed: true, now: MediaTimestamp(milliseconds: 5000))
        let late = gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 60_000))
        #expect(late.contains(.forgetPress) && !late.contains(.longPress))
    }
}
