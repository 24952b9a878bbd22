import ApplianceLogic
import Media
import Testing

@Suite("Button gestures")
struct ButtonGesturesTests {
    /// Plays line changes (milliseconds, level), fires timers when due, and writes gestures down with their time.
    private func play(_ changes: [(Int64, Bool)], until end: Int64 = 20_000, startsPressed: Bool = false) -> [String] {
        var gestures = ButtonGestures(isPressed: startsPressed)
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

    @Test func aShortPressIsAnsweredAtOnceAndCountsOnRelease() {
        #expect(play([(100, true), (300, false)]) == ["100 acknowledgePress", "300 shortPress"])
    }

    @Test func bouncesCountOnce() {
        let bouncing: [(Int64, Bool)] = [
            (100, true), (102, false), (104, true), (109, false), (111, true),
            (300, false), (301, true), (305, false), (310, true), (318, false),
        ]
        #expect(play(bouncing) == ["100 acknowledgePress", "300 shortPress"])
    }

    @Test func aReleaseThatEndsWithinBouncesIsFound() {
        // The last change of the release comes while nobody looks, and again for a press.
        #expect(
            play([(100, true), (300, false), (310, true), (600, false)])
                == ["100 acknowledgePress", "300 shortPress", "330 acknowledgePress", "600 shortPress"])
    }

    @Test func aDisturbanceOnTheWireIsNoPress() {
        #expect(play([(100, true), (101, false)]) == ["100 acknowledgePress", "130 forgetPress"])
    }

    @Test func twoPressesAreTwo() {
        #expect(
            play([(0, true), (80, false), (160, true), (240, false)])
                == ["0 acknowledgePress", "80 shortPress", "160 acknowledgePress", "240 shortPress"])
    }

    @Test func aLongPressBlinksWhenReachedAndCountsOnRelease() {
        #expect(
            play([(0, true), (3500, false)]) == ["0 acknowledgePress", "3000 acknowledgeLongPress", "3500 longPress"])
        #expect(play([(0, true), (2999, false)]).last == "2999 shortPress")
        #expect(play([(0, true), (3001, false)]).last == "3001 longPress")
        #expect(play([(0, true), (9999, false)]).last == "9999 longPress")
    }

    @Test func aVeryLongPressDoesNothing() {
        let held = ["0 acknowledgePress", "3000 acknowledgeLongPress", "10000 forgetPress"]
        #expect(play([(0, true)]) == held)
        #expect(play([(0, true), (12_000, false)]) == held)
        #expect(
            play([(0, true), (12_000, false), (13_000, true), (13_200, false)])
                == held + ["13000 acknowledgePress", "13200 shortPress"])
    }

    @Test func aButtonThatIsDownAtTheStartWaitsForItsRelease() {
        #expect(play([(5000, false)], startsPressed: true) == [])
        #expect(
            play([(5000, false), (6000, true), (6100, false)], startsPressed: true)
                == ["6000 acknowledgePress", "6100 shortPress"])
    }

    @Test func theTimeHeldDecidesAlsoWhenTimersComeLate() {
        var gestures = ButtonGestures(isPressed: false)
        _ = gestures.levelChanged(isPressed: true, now: .zero)
        #expect(gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 4000)).contains(.longPress))
        _ = gestures.timerFired(now: MediaTimestamp(milliseconds: 4100))
        _ = gestures.levelChanged(isPressed: true, now: MediaTimestamp(milliseconds: 5000))
        let late = gestures.levelChanged(isPressed: false, now: MediaTimestamp(milliseconds: 60_000))
        #expect(late.contains(.forgetPress) && !late.contains(.longPress))
    }
}
