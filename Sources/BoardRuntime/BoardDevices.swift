import ApplianceLogic
import BoardIO
import LinuxIO
import Media
import Settings

/// The button and LEDs that board.json names. Lines that cannot be opened are retried. Used from the main thread, which no chip
/// can delay: each line has its own thread.
package final class BoardDevices {
    /// How to open lines. Called on their threads.
    package struct Openers {
        package init() {}

        package typealias Opener = @Sendable (BoardDescription.Line) throws(BoardIOError) -> any LineDevice

        package var button: Opener = { line throws(BoardIOError) in
            try GPIOButton(name: line.name, chip: line.chip, isActiveLow: line.isActiveLow)
        }
        package var lamp: Opener = { line throws(BoardIOError) in
            try GPIOLamp(name: line.name, chip: line.chip, isActiveLow: line.isActiveLow)
        }
        package var led: @Sendable (String) throws(BoardIOError) -> any LineDevice = { name throws(BoardIOError) in
            try KernelLED(name: name)
        }
        /// Finds the machine's chips, for the fault of a line that cannot be opened.
        package var chips: @Sendable () -> [GPIOChip] = { GPIOChip.all() }
        package var flash: @Sendable (String) throws(BoardIOError) -> any LineDevice = { name throws(BoardIOError) in
            try FlashSubdevice(name: name)
        }

        func light(_ light: BoardDescription.Light) throws(BoardIOError) -> any LineDevice {
            switch light {
            case .line(let line): try lamp(line)
            case .led(let name): try led(name)
            case .subdevice(let name): try flash(name)
            }
        }
    }

    /// How long the main thread waits for lines being opened or checked, so that problems can be reported immediately.
    private static let answerTimeout = Duration.milliseconds(100)

    private let openers: Openers
    private var board: BoardDescription?
    private var button: LineThread?
    private var statusLED: LineThread?
    private var flashLED: LineThread?
    /// The opening whose gestures are being tracked.
    private var followedButton = 0
    private var gestures = ButtonGestures(isPressed: false)
    /// Whether a double press has its own meaning.
    package var hearsDoublePress = false { didSet { gestures.hearsDoublePress = hearsDoublePress } }
    private var gestureTimer: MediaTimestamp?
    private var sequencer = LEDSequencer()
    private var sequencerTimer: MediaTimestamp?
    private var pattern = LEDPattern.slow
    private var isTorchLit = false
    /// Lines whose thread could not be started, by their keys in board.json.
    private var threadFaults: [String: LineFault] = [:]

    package init(openers: Openers = Openers()) { self.openers = openers }

    /// Faults of the lines, by their keys in board.json.
    package var faults: [String: LineFault] {
        let now = MonotonicClock.now()
        var faults = threadFaults
        faults["button"] = faults["button"] ?? button?.fault(now: now)
        faults["statusLED"] = faults["statusLED"] ?? statusLED?.fault(now: now)
        faults["flashLED"] = faults["flashLED"] ?? flashLED?.fault(now: now)
        return faults
    }

    /// The machine's GPIO chips, as the thread of a line without success has found them; `nil` if they are unknown.
    package func chips(of key: String) -> [GPIOChip]? {
        let now = MonotonicClock.now()
        return switch key {
        case "button": button?.chips(now: now)
        case "statusLED": statusLED?.chips(now: now)
        default: flashLED?.chips(now: now)
        }
    }

    package var fileDescriptor: Int32 { button?.fileDescriptor ?? -1 }
    package var nextDeadline: MediaTimestamp? { [gestureTimer, sequencerTimer].compactMap { $0 }.min() }

    /// Applies a new description of the board. Unchanged lines are not touched.
    package func boardChanged(to next: BoardDescription?, now: MediaTimestamp) {
        // Release all old lines first, because a new one may need the same line.
        if next?.button != board?.button { end(&button, now: now) }
        if next?.statusLED != board?.statusLED { end(&statusLED, now: now) }
        if next?.flashLED != board?.flashLED { end(&flashLED, now: now) }
        board = next
        checkLines(now: now)
    }

    /// Call it every few seconds: a chip may disappear (an expander's bus, an unbound driver) and return.
    package func checkLines(now: MediaTimestamp) {
        startThreads(now: now)
        button?.check(now: now)
        statusLED?.check(now: now)
        flashLED?.check(now: now)
        button?.wait(atMost: Self.answerTimeout)
        statusLED?.wait(atMost: Self.answerTimeout)
        flashLED?.wait(atMost: Self.answerTimeout)
    }

    /// Turns the lights off and releases all lines.
    package func end() { boardChanged(to: nil, now: MonotonicClock.now()) }

    private func end(_ line: inout LineThread?, now: MediaTimestamp) {
        line?.end(now: now)
        line?.wait(atMost: Self.answerTimeout)
        line = nil
    }

    private func startThreads(now: MediaTimestamp) {
        threadFaults = [:]
        if button == nil, let line = board?.button {
            button = start("button") { [openers] () throws(BoardIOError) in try openers.button(line) }
            followedButton = 0
            follow(isPressed: false)
        }
        if statusLED == nil, let line = board?.statusLED {
            statusLED = start("statusLED") { [openers] () throws(BoardIOError) in try openers.lamp(line) }
            sequencer = LEDSequencer()
            perform(sequencer.patternChanged(to: pattern, now: now))
        }
        if flashLED == nil, let light = board?.flashLED {
            flashLED = start("flashLED") { [openers] () throws(BoardIOError) in try openers.light(light) }
            flashLED?.set(isLit: isTorchLit, now: now)
        }
    }

    private func start(
        _ key: String, _ open: @escaping @Sendable () throws(BoardIOError) -> any LineDevice
    ) -> LineThread? {
        do throws(SystemCallError) {
            return try LineThread(key, opening: open, findChips: openers.chips)
        } catch {
            threadFaults[key] = .noThread(error)
            return nil
        }
    }

    package func show(_ pattern: LEDPattern, now: MediaTimestamp) {
        self.pattern = pattern
        perform(sequencer.patternChanged(to: pattern, now: now))
    }

    package func answer(_ answer: LEDSequencer.Answer, now: MediaTimestamp) {
        perform(sequencer.answerWanted(answer, now: now))
    }

    package func setTorch(isLit: Bool) {
        isTorchLit = isLit
        flashLED?.set(isLit: isLit, now: MonotonicClock.now())
    }

    /// Interprets the button's edges.
    package func buttonMoved() -> [ButtonGestures.Action] {
        guard let news = button?.takeNews() else { return [] }
        if news.opening != followedButton {
            followedButton = news.opening
            follow(isPressed: news.wasPressedAtFirst)
        }
        return taken(news.edges.flatMap { gestures.levelChanged(isPressed: $0.isPressed, now: $0.time) })
    }

    /// Tracks a button that has just been opened.
    private func follow(isPressed: Bool) {
        gestures = ButtonGestures(isPressed: isPressed, hearsDoublePress: hearsDoublePress)
        gestureTimer = nil
    }

    package func timersFired(now: MediaTimestamp) -> [ButtonGestures.Action] {
        if let time = sequencerTimer, time <= now { perform(sequencer.timerFired(now: now)) }
        guard let time = gestureTimer, time <= now else { return [] }
        return taken(gestures.timerFired(now: now))
    }

    private func taken(_ actions: [ButtonGestures.Action]) -> [ButtonGestures.Action] {
        for action in actions {
            if case .setTimer(let time) = action { gestureTimer = time }
        }
        return actions
    }

    private func perform(_ actions: [LEDSequencer.Action]) {
        for action in actions {
            switch action {
            case .setTimer(let time): sequencerTimer = time
            case .setLED(let isLit): statusLED?.set(isLit: isLit, now: MonotonicClock.now())
            }
        }
    }
}
