import DevicePorts
import Glibc
import LinuxIO
import Media
import StreamLogic

/// The body of the thread `display`: finds a display, shows the content, and starts over when the display is gone.
final class DisplayThread {
    /// How often to look for a missing display, and to check a present one.
    private static let lookInterval = Duration.seconds(2)
    /// The longest pause after repeated driver failures.
    private static let longestPause = Duration.seconds(60)
    /// Time limit for the driver to show something.
    private static let flipTimeout = Duration.seconds(2)

    private let state: PreviewState
    private let connector: String?
    private let makeScaler: Display.MakeScaler
    private let report: (PreviewEvent) -> Void
    private var news = PreviewNews()
    private var pause = DisplayThread.lookInterval

    init(
        _ state: PreviewState, connector: String?, makeScaler: @escaping Display.MakeScaler,
        report: @escaping (PreviewEvent) -> Void
    ) {
        self.state = state
        self.connector = connector
        self.makeScaler = makeScaler
        self.report = report
    }

    func run() {
        while !state.isEnding {
            let start = MonotonicClock.now()
            do throws(DisplayError) {
                try light()
            } catch {
                state.dark()
                if let event = news.failed(error) { report(event) }
                let wasLong = MonotonicClock.now() - start > Self.longestPause
                pause = error.mayPassSoon || wasLong ? Self.lookInterval : min(pause * 2, Self.longestPause)
            }
            wait(until: MonotonicClock.now() + pause)
        }
        state.dark()
    }

    /// Waits until a time, or until the end.
    private func wait(until time: MediaTimestamp) {
        while !state.isEnding, MonotonicClock.now() < time {
            var entries = [PollEntry(state.wake.fileDescriptor)]
            guard (try? poll(&entries, until: time)) != nil else { return }
            state.wake.drain()
        }
    }

    /// Lights a display and shows the content until the end.
    private func light() throws(DisplayError) {
        let screen = try Screen.first(connector: connector, makeScaler: makeScaler)
        state.lit()
        if let event = news.lit(screen.description, isConverted: screen.convertsAll) { report(event) }
        var nextLook = MonotonicClock.now() + Self.lookInterval
        while !state.isEnding {
            try wait(for: screen, until: nextLook)
            let now = MonotonicClock.now()
            if let flip = try screen.takeFlip() {
                state.flipped(withFrame: flip.hasFrame, isConverted: flip.isConverted, now: now)
            }
            state.releaseOld(now: now)
            if nextLook <= now {
                nextLook = now + Self.lookInterval
                try screen.look(now: now)
            }
            if let flipStart = screen.flipStart {
                guard now - flipStart < Self.flipTimeout else {
                    throw .silent(connector: screen.connector.name, now - flipStart)
                }
            } else {
                try showNext(on: screen, now: now)
            }
        }
    }

    private enum Waited {
        case wake, screen
    }

    private func wait(for screen: Screen, until nextLook: MediaTimestamp) throws(DisplayError) {
        let isFlipping = screen.flipStart != nil
        var waits: PollSet<Waited> = [
            .wake: state.wake.fileDescriptor, .screen: isFlipping ? screen.fileDescriptor : -1,
        ]
        waits.wake(at: state.leaseDeadline)
        // A frame that comes too early for the display is considered again when the display is ready.
        if !isFlipping { waits.wake(at: screen.nextFrameTime) }
        _ = try? waits.wait(until: nextLook)
        if waits.isReady(.wake) { state.wake.drain() }
        // Only an unplugged card reports these.
        guard waits.ready(.screen).isDisjoint(with: [.error, .hangUp]) else {
            throw .unplugged(connector: screen.connector.name)
        }
    }

    private func showNext(on screen: Screen, now: MediaTimestamp) throws(DisplayError) {
        let isReady = screen.nextFrameTime.map { $0 <= now } ?? true
        guard isReady else { return }
        screen.nextFrameTime = nil
        let work = state.take(asBuffer: !screen.convertsFrames, now: now)
        do throws(DisplayError) {
            try screen.show(work, now: now)
        } catch {
            if work.frame != nil { state.frameLost() }
            state.pageLost()
            guard screen.recovers(from: error, of: work, now: now) else { throw error }
        }
    }
}

/// Reports each change once: that a display is lit, or why none is.
struct PreviewNews {
    private var last: PreviewEvent?

    mutating func lit(_ display: String, isConverted: Bool) -> PreviewEvent? {
        changed(to: .lit(display: display, isConverted: isConverted))
    }

    /// A display that was already reported dark is not reported again.
    mutating func failed(_ error: DisplayError) -> PreviewEvent? {
        if case .dark = last { return nil }
        return changed(to: .dark(reason: "\(error)"))
    }

    private mutating func changed(to event: PreviewEvent) -> PreviewEvent? {
        defer { last = event }
        return event == last ? nil : event
    }
}
