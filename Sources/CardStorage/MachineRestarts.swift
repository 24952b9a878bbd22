import ApplianceLogic
import LinuxIO
import Media

/// The restarts that the machine has made by itself, stored so that they survive a restart. Used from the main thread.
package struct MachineRestarts {
    /// A card that needs longer to record a restart has failed.
    private static let patience = Duration.seconds(10)

    package struct Wish {
        package let reason: RestartLimit.Reason
        /// The reason, for people.
        package let words: String
        /// Ordinal of this restart within `RestartLimit.window`.
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

    /// Call it at the program's start, before anything else is pending.
    /// - Returns: what to do with the stream after an automatic restart; once.
    package mutating func takeStart() -> RestartLimit.StreamAfterwards {
        let afterwards = limit.streamAfterwards
        guard afterwards != .asEver else { return .asEver }
        limit.startTaken()
        let text = Array(limit.savedText(now: MonotonicClock.now()).utf8)
        // If this cannot be saved, a power cut would start an unwanted stream.
        let isSaved = (try? replaceFile(path, with: text, permissions: 0o600)) != nil
        return afterwards == .resumes && !isSaved ? .asEver : afterwards
    }

    /// Requests a restart. A restart that cannot be counted must not happen, because it could repeat forever.
    /// - Returns: the text to save before it; `nil` if the machine must not restart.
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

    /// When a refused restart may be requested again.
    package func earliest(for reason: RestartLimit.Reason, now: MediaTimestamp) -> MediaTimestamp {
        limit.earliest(for: reason, now: now)
    }

    /// - Parameters:
    ///   - wantsStream: whether a stream is wanted now.
    ///   - isEnding: whether the machine is already shutting down at a person's request.
    /// - Returns: the restart to start now: it was counted in time, and nobody has started or ended anything meanwhile.
    package mutating func saved(isSaved: Bool, wantsStream: Bool, isEnding: Bool, now: MediaTimestamp) -> Wish? {
        guard let wish else { return nil }
        self.wish = nil
        let isInTime = isSaved && now - wish.time <= Self.patience
        if isInTime, !isEnding, wish.resumesStream == wantsStream { return wish }
        limit = wish.before
        return nil
    }

    /// The text to save if a counted restart does not take place.
    package func withdrawn(now: MediaTimestamp) -> String { limit.savedText(now: now) }
}
