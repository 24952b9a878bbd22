import ApplianceLogic
import BoardIO
import JSONText
import LinuxIO
import Media
import MediaTestSupport
import Settings
import Synchronization
import Testing

@testable import ApplianceRuntime
@testable import BoardRuntime

/// A light on an expander with a hanging bus must not block anything else. All of this runs on the main thread.
@Suite(.serialized) struct BoardDevicesTests {
    private let time = VirtualTime()
    private let bus = Bus()
    private let otherBus = Bus()
    private let status: FakeLine
    private let flash: FakeLine

    init() {
        status = FakeLine(on: bus)
        flash = FakeLine(on: otherBus)
    }

    private func devices() -> BoardDevices {
        var openers = BoardDevices.Openers()
        openers.lamp = { [status, flash, bus, otherBus] line throws(BoardIOError) in
            (line.name == "status" ? bus : otherBus).transfer()
            return line.name == "status" ? status : flash
        }
        return BoardDevices(openers: openers)
    }

    private func board(_ text: String) throws -> BoardDescription {
        try #require(BoardDescription.decode(JSONValue(parsing: Array(text.utf8))).value)
    }

    private func board() throws -> BoardDescription {
        try board(#"{"name": "Bench", "statusLED": {"line": "status"}, "flashLED": {"line": "flash"}}"#)
    }

    private func seconds(_ body: () -> Void) -> Double {
        let start = MonotonicClock.now()
        body()
        return (MonotonicClock.now() - start).inSeconds
    }

    private func wait(until isSo: () -> Bool) -> Bool {
        let limit = MonotonicClock.now() + .seconds(5)
        while !isSo(), MonotonicClock.now() < limit {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2))
        }
        return isSo()
    }

    @Test func lightRespondsAtOnce() throws {
        try time.run {
            let (devices, board) = (devices(), try board())
            devices.boardChanged(to: board, now: MonotonicClock.now())
            devices.show(.off, now: MonotonicClock.now())
            #expect(wait { status.states.last == false })
            let latency = seconds {
                devices.show(.steady, now: MonotonicClock.now())
                #expect(wait { status.states.last == true })
            }
            #expect(latency < 0.1)
            #expect(devices.faults == [:])
            devices.end()
        }
    }

    @Test func hangingBusBlocksOnlyItsOwnLight() throws {
        try time.run {
            let (devices, board) = (devices(), try board())
            devices.boardChanged(to: board, now: MonotonicClock.now())
            devices.show(.off, now: MonotonicClock.now())
            #expect(wait { status.states.last == false })
            bus.hang()
            let took = seconds {
                for number in 0..<100 { devices.show(number % 2 == 0 ? .steady : .off, now: MonotonicClock.now()) }
                devices.show(.steady, now: MonotonicClock.now())
                devices.setTorch(isLit: true)
            }
            #expect(took < 0.05, "the main thread goes on")
            #expect(wait { flash.states.last == true }, "so does the other light")
            // Lines are checked every two seconds, but a hanging bus costs its delay only once.
            #expect(seconds { for _ in 0..<20 { devices.checkLines(now: MonotonicClock.now()) } } < 0.4)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2_000))
            #expect(devices.faults["statusLED"] == .unanswered)
            #expect(devices.faults["flashLED"] == nil)
            // No thread counts as hanging, which would let the watchdog restart the machine.
            #expect(!ThreadActivity.working().contains { $0.name == "statusLED" })
            bus.goOn()
            #expect(wait { status.states.last == true }, "what was wanted last is shown")
            #expect(status.states.count < 20, "what it had no time for is left out")
            #expect(wait { devices.faults == [:] })
            devices.end()
        }
    }

    @Test func lineThatHangsWhileOpeningBlocksNothing() throws {
        try time.run {
            bus.hang()
            let (devices, board) = (devices(), try board())
            #expect(seconds { devices.boardChanged(to: board, now: MonotonicClock.now()) } < 0.3)
            devices.setTorch(isLit: true)
            #expect(wait { flash.states.last == true })
            // The end and another description are not blocked either.
            #expect(seconds { devices.boardChanged(to: nil, now: MonotonicClock.now()) } < 0.5)
            bus.goOn()
        }
    }

    /// Only a line's own thread asks chips, because another chip may hang.
    @Test func chipsAreListedByTheThreadOfALineThatIsMissing() throws {
        try time.run {
            var openers = BoardDevices.Openers()
            openers.lamp = { line throws(BoardIOError) in throw .noSuchLine(name: line.name, chip: nil) }
            openers.chips = { [bus] in
                bus.transfer()
                return []
            }
            let devices = BoardDevices(openers: openers)
            bus.hang()
            let board = try board()
            #expect(seconds { devices.boardChanged(to: board, now: MonotonicClock.now()) } < 0.3)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2_000))
            #expect(devices.chips(of: "statusLED") == nil)
            #expect(devices.faults["statusLED"] == .unanswered)
            bus.goOn()
            #expect(wait { devices.chips(of: "statusLED") != nil })
            #expect(devices.faults["statusLED"] == .line(.noSuchLine(name: "status", chip: nil)))
            devices.end()
        }
    }

    @Test func pressIsNoticedWhileAnotherLinesBusHangs() throws {
        try time.run {
            let button = FakeLine(on: otherBus, hasEdges: try EventFD())
            var openers = BoardDevices.Openers()
            openers.button = { _ throws(BoardIOError) in button }
            openers.lamp = { [status] _ throws(BoardIOError) in status }
            let devices = BoardDevices(openers: openers)
            bus.hang()
            devices.boardChanged(
                to: try board(#"{"name": "Bench", "button": {"line": "button"}, "statusLED": {"line": "status"}}"#),
                now: MonotonicClock.now())
            let start = MonotonicClock.now()
            button.move(isPressed: true, at: start)
            var actions: [ButtonGestures.Action] = []
            let limit = start + .seconds(2)
            while actions.isEmpty, MonotonicClock.now() < limit {
                var entries = [PollEntry(devices.fileDescriptor)]
                try poll(&entries, until: min(limit, devices.nextDeadline ?? limit))
                actions = (devices.buttonMoved() + devices.timersFired(now: MonotonicClock.now())).filter { action in
                    if case .setTimer = action { false } else { true }
                }
            }
            #expect(!actions.isEmpty)
            #expect((MonotonicClock.now() - start).inSeconds < 0.2)
            bus.goOn()
            devices.end()
        }
    }

    @Test func missingLineIsReportedAtOnceAndRetried() throws {
        try time.run {
            let isThere = Mutex(false)
            var openers = BoardDevices.Openers()
            openers.lamp = { [flash] line throws(BoardIOError) in
                guard isThere.withLock({ $0 }) else { throw .noSuchLine(name: line.name, chip: nil) }
                return flash
            }
            let devices = BoardDevices(openers: openers)
            let board = try board(#"{"name": "Bench", "flashLED": {"line": "flash"}}"#)
            devices.boardChanged(to: board, now: MonotonicClock.now())
            #expect(devices.faults["flashLED"] == .line(.noSuchLine(name: "flash", chip: nil)))
            devices.setTorch(isLit: true)
            isThere.withLock { $0 = true }
            devices.checkLines(now: MonotonicClock.now())
            #expect(devices.faults == [:])
            #expect(flash.states == [true])
            devices.end()
        }
    }
}
