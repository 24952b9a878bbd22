import ApplianceLogic
import LinuxIO
import Media

/// The restarts that the machine has made by itself, kept where they survive them. Used from the main thread.
package struct MachineRestarts {
    /// A card that takes longer to count a restart than this has missed it.
    private static let patience = Duration.seconds(10)

    package struct Wish {
        package let reason: RestartLimit.Reason
        /// The same for people.
        package let words: String
        /// Of this restart, within `RestartLimit.window`.
        package let number: Int
        fileprivate let resumesStream: Bool
        fileprivate let before: RestartLimit
        fileprivate let time: MediaTimestamp
    }

    private var limit: RestartLimit
    private let path: String
    private var wish: Wish?

    package init(stateDirectory: String) {
        path = "\(stateDirectory)/restarts"
        let saved = (try? readFile(path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        limit = RestartLimit(savedText: saved, now: MonotonicClock.now())
    }

    /// At the program's start, when nothing else waits yet.
    /// - Returns: what becomes of the stream, if the machine has restarted itself; once.
    package mutating func takeStart() -> RestartLimit.StreamAfterwards {
        let afterwards = limit.streamAfterwards
        guard afterwards != .asEver else { return .asEver }
        limit.startTaken()
        let text = Array(limit.savedText(now: MonotonicClock.now()).utf8)
        // Where that cannot be written down, a power cut would start a stream that nobody wants.
        let isSaved = (try? replaceFile(path, with: text, permissions: 0o600)) != nil
        return afterwards == .resumes && !isSaved ? .asEver : afterwards
    }

    /// A restart is wanted. What cannot be counted must not be done: it might be done for ever.
    /// - Returns: what is to be saved before it; `nil` when the machine must stand.
    package mutating func ask(
        for reason: RestartLimit.Reason, words: String, resumesStream: Bool, now: MediaTimestamp
    ) -> String? {
        let before = limit
        guard limit.restartWanted(for: reason, resumesStream: resumesStream, now: now) else { return nil }
        wish = Wish(
            reason: reason, words: words, number: limit.count(now: now), resumesStream: resumesStream, before: before,
            time: now)
        return limit.savedText(now: now)
    }

    package var isAsked: Bool { wish != nil }

    /// When a restart that was refused may be asked for again.
    package func earliest(for reason: RestartLimit.Reason, now: MediaTimestamp) -> MediaTimestamp {
        limit.earliest(for: reason, now: now)
    }

    /// - Parameters:
    ///   - wantsStream: whether a stream is wanted by now.
    ///   - isEnding: the machine is on its way down already, at somebody's wish.
    /// - Returns: the restart that is to start now: it was counted in time, and nobody has started or ended anything
    ///   meanwhile.
    package mutating func saved(isSaved: Bool, wantsStream: Bool, isEnding: Bool, now: MediaTimestamp) -> Wish? {
        guard let wish else { return nil }
        self.wish = nil
        let isInTime = isSaved && now - wish.time <= Self.patience
        if isInTime, !isEnding, wish.resumesStream == wantsStream { return wish }
        limit = wish.before
        return nil
    }

    /// What is to be saved when a counted restart does not take place.
    package func withdrawn(now: MediaTimestamp) -> String { limit.savedText(now: now) }
}
