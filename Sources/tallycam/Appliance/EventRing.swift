import Glibc
import LinuxIO
import Media

/// The last events as lines of text. They survive a restart in a file that is written seldom. Used from one thread.
final class EventRing {
    private static let capacity = 200
    private static let longestLine = 240
    /// Between two writes that nothing urges.
    private static let writeInterval = Duration.seconds(600)

    private(set) var lines: [String]
    private let path: String
    /// While this file exists, the clock shows the image's date: no time server has answered since the boot.
    private let clockMark: String
    private var isSaved = true
    private var lastWrite: MediaTimestamp

    init(path: String, clockMark: String) {
        self.path = path
        self.clockMark = clockMark
        let saved = (try? readFile(path, limit: 256 * 1024)) ?? []
        lines = saved.split(separator: 0x0A).suffix(Self.capacity).map { line in
            String(String(decoding: line, as: UTF8.self).prefix(Self.longestLine))
        }
        lastWrite = MonotonicClock.now()
    }

    /// - Parameter text: without secrets, one line.
    func append(_ text: String) {
        lines.append(String("\(stamp()) \(text)".prefix(Self.longestLine)))
        if lines.count > Self.capacity { lines.removeFirst(lines.count - Self.capacity) }
        isSaved = false
    }

    var text: [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    /// Writes the file when it is time, or when something has happened that somebody may want to know about later.
    func save(isUrgent: Bool, now: MediaTimestamp) {
        guard !isSaved, isUrgent || now - lastWrite >= Self.writeInterval else { return }
        lastWrite = now
        // Without a place to write there is still the console.
        isSaved = (try? replaceFile(path, with: text, permissions: 0o600)) != nil
    }

    /// The time of day, or the time since power-on where the clock is not set.
    private func stamp() -> String {
        var seconds = time_t(WallClock.secondsSince1970())
        guard seconds > 1_735_689_600, access(clockMark, F_OK) != 0 else {
            return "+\(fixed(MonotonicClock.now().seconds, decimals: 1))s"
        }
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}

extension MediaTimestamp {
    /// Since the clock's zero, for people.
    var seconds: Double { (self - .zero).inSeconds }
}
