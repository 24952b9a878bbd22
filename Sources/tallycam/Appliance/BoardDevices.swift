import ApplianceLogic
import BoardIO
import LinuxIO
import Media
import Settings

/// Button and LEDs as board.json names them. What cannot be opened is tried again. Used from the main thread.
final class BoardDevices {
    private var board: BoardDescription?
    private var button: GPIOButton?
    private var statusLED: GPIOLamp?
    private var flashLED: GPIOLamp?
    private var gestures = ButtonGestures(isPressed: false)
    private var gestureTimer: MediaTimestamp?
    private var sequencer = LEDSequencer()
    private var sequencerTimer: MediaTimestamp?
    private var pattern = LEDPattern.slow
    private var isFlashLit = false
    /// What is wrong with the lines, by their keys in board.json.
    private(set) var faults: [String: String] = [:]

    var fileDescriptor: Int32 { button?.fileDescriptor ?? -1 }
    var nextDeadline: MediaTimestamp? { [gestureTimer, sequencerTimer].compactMap { $0 }.min() }

    /// Takes up another description of the board; lines that stay the same are not touched.
    func boardChanged(to next: BoardDescription?, now: MediaTimestamp) {
        if next?.button != board?.button { button = nil }
        if next?.statusLED != board?.statusLED { statusLED = nil }
        if next?.flashLED != board?.flashLED { flashLED = nil }
        board = next
        openMissing(now: now)
    }

    /// To be called every few seconds: a chip may go (an expander's bus, a driver that is unbound) and come back.
    func checkLines(now: MediaTimestamp) {
        if button?.isThere == false { button = nil }
        if statusLED?.isThere == false { statusLED = nil }
        if flashLED?.isThere == false { flashLED = nil }
        let isMissing = button == nil && board?.button != nil || statusLED == nil && board?.statusLED != nil
        if isMissing || flashLED == nil && board?.flashLED != nil || !faults.isEmpty { openMissing(now: now) }
    }

    /// Opens what is described and not open yet.
    func openMissing(now: MediaTimestamp) {
        faults = [:]
        if button == nil, let line = board?.button {
            button = open("button") { () throws(GPIOError) in
                try GPIOButton(name: line.name, chip: line.chip, isActiveLow: line.isActiveLow)
            }
            gestures = ButtonGestures(isPressed: button?.isPressed ?? false)
            gestureTimer = nil
        }
        if statusLED == nil, let line = board?.statusLED {
            statusLED = open("statusLED") { () throws(GPIOError) in
                try GPIOLamp(name: line.name, chip: line.chip, isActiveLow: line.isActiveLow)
            }
            sequencer = LEDSequencer()
            perform(sequencer.patternChanged(to: pattern, now: now))
        }
        if flashLED == nil, let line = board?.flashLED {
            flashLED = open("flashLED") { () throws(GPIOError) in
                try GPIOLamp(name: line.name, chip: line.chip, isActiveLow: line.isActiveLow)
            }
            setFlash(isLit: isFlashLit)
        }
    }

    private func open<Device>(_ key: String, _ open: () throws(GPIOError) -> Device) -> Device? {
        do {
            return try open()
        } catch {
            faults[key] = "\(error)"
            return nil
        }
    }

    func show(_ pattern: LEDPattern, now: MediaTimestamp) {
        self.pattern = pattern
        perform(sequencer.patternChanged(to: pattern, now: now))
    }

    func answer(_ answer: LEDSequencer.Answer, now: MediaTimestamp) {
        perform(sequencer.answerWanted(answer, now: now))
    }

    func setFlash(isLit: Bool) {
        isFlashLit = isLit
        do {
            try flashLED?.set(isLit: isLit)
        } catch {
            flashLED = nil
            faults["flashLED"] = "\(error)"
        }
    }

    /// What the button's edges mean.
    func buttonMoved() -> [ButtonGestures.Action] {
        guard let button else { return [] }
        do {
            return taken(
                try button.takeEdges().flatMap { gestures.levelChanged(isPressed: $0.isPressed, now: $0.time) })
        } catch {
            self.button = nil
            faults["button"] = "\(error)"
            return []
        }
    }

    func timersFired(now: MediaTimestamp) -> [ButtonGestures.Action] {
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

    private func setStatus(isLit: Bool) {
        do {
            try statusLED?.set(isLit: isLit)
        } catch {
            statusLED = nil
            faults["statusLED"] = "\(error)"
        }
    }

    private func perform(_ actions: [LEDSequencer.Action]) {
        for action in actions {
            switch action {
            case .setTimer(let time): sequencerTimer = time
            case .setLED(let isLit): setStatus(isLit: isLit)
            }
        }
    }
}
