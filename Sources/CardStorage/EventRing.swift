import ApplianceLogic
import Glibc
import LinuxIO
import Media

/// The latest events with their times, in the stored form. Used from the main thread.
package struct EventRing {
    private var log: EventLog
    /// While this file exists, the clock shows the image's date, because no time server has answered since boot.
    private let clockMark: String

    /// - Parameter path: of the file left by earlier runs of the program.
    package init(path: String, clockMark: String) {
        self.clockMark = clockMark
        let saved = (try? readFile(path, limit: 256 * 1024)) ?? []
        let lines = saved.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        log = EventLog(before: lines, now: MonotonicClock.now())
    }

    package var lines: [String] { log.lines }
    package var text: [UInt8] { log.text }

    /// - Parameter text: one line, without secrets.
    /// - Returns: the line with its time.
    @discardableResult
    package mutating func append(_ text: String) -> String {
        let stamp = stamp()
        log.happened(text, stamp: stamp, now: MonotonicClock.now())
        return "\(stamp) \(text)"
    }

    package mutating func personActed() { log.personActed() }

    package mutating func takeUnwritten(isUrgent: Bool, now: MediaTimestamp) -> [UInt8]? {
        log.takeUnwritten(isUrgent: isUrgent, now: now)
    }

    package mutating func takeLast(now: MediaTimestamp) -> [UInt8]? { log.takeLast(now: now) }

    /// The time of day, or the time since power-on if the clock is not set.
    private func stamp() -> String {
        isClockSet ? WallClock.calendarTime().text : "+\(fixed(MonotonicClock.now().seconds, decimals: 1))s"
    }

    /// Whether the time of day is known.
    package var isClockSet: Bool { WallClock.isPlausible && access(clockMark, F_OK) != 0 }
}

extension MediaTimestamp {
    /// Since the clock's zero, for people.
    var seconds: Double { (self - .zero).inSeconds }
}
