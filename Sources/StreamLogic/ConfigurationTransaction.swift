import StreamQuality

/// Takes changes of a live stream line by line, several of them as one transaction between `begin` and `commit`.
///
/// ```
///              set: changes at once
///            ┌────┐
///            ▼    │   begin    ┌──────┐ set: noted
///  ───────▶ idle ─┴──────────▶ open ──┴─┐
///            ▲                  │  ▲────┘
///            └──────────────────┘
///       commit: all changes at once; cancel: none
/// ```
public struct ConfigurationTransaction: Sendable {
    public enum Action: Hashable, Sendable {
        /// Lines for the one who asked.
        case answer([String])
        /// Why nothing has changed.
        case refuse(String)
        /// Make the stream so, all of it at one keyframe.
        case apply(LiveConfiguration)
        /// End the stream in order.
        case endStream
    }

    /// Changes that wait for `commit`; `nil` outside a transaction.
    private var changes: [Change]?

    private typealias Change = (name: String, value: String)

    public init() {}

    public static let help = [
        "set NAME VALUE [NAME VALUE...]   change settings, all of them at one keyframe",
        "begin                            note what is set from here on, and change nothing yet",
        "commit                           change what was noted, all of it at one keyframe",
        "cancel                           forget what was noted",
        "show                             the settings and their values",
        "stop                             end the stream",
        "help                             this list",
        "Settings: quality NAME, audio-quality NAME, bitrate MIN,START,MAX (or SD, HD, FHD), fps N,",
        "dimension WxH|NAME (with adapt restart), adapt nothing|seamless|restart,",
        "keep-audio-quality on|off, mute on|off. quality brings its own bit rates; set bitrate after it.",
    ]

    /// - Parameter present: how the stream is now.
    /// - Returns: `nil` for an empty line.
    public mutating func lineReceived(_ line: String, present: LiveConfiguration) -> Action? {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
        guard let command = words.first else { return nil }
        switch (command.lowercased(), words.count) {
        case ("set", let count) where count >= 3 && count % 2 == 1: return set(words.dropFirst(), present)
        case ("set", _): return .refuse("set takes names with values, as in: set quality Medium2 fps 15")
        case ("begin", 1): return begin()
        case ("commit", 1): return commit(present)
        case ("cancel", 1): return cancel()
        case ("show", 1): return .answer(present.lines + (changes ?? []).map { "noted: \($0.name) \($0.value)" })
        case ("stop", 1): return .endStream
        case ("help", 1): return .answer(Self.help)
        default: return .refuse("there is no command \"\(line.prefix(60))\"; help lists them")
        }
    }

    private mutating func set(_ words: ArraySlice<String>, _ present: LiveConfiguration) -> Action {
        var added: [Change] = []
        var rest = words
        while let name = rest.popFirst(), let value = rest.popFirst() { added.append((name, value)) }
        do throws(QualityError) {
            guard let noted = changes else { return .apply(try Self.applied(added, to: present)) }
            // Each value is looked at now, the whole of them at the end.
            var draft = present
            for change in noted + added { try draft.set(change.name, to: change.value) }
            changes = noted + added
            return .answer(added.map { "noted: \($0.name) \($0.value)" })
        } catch {
            return .refuse(error.description)
        }
    }

    private mutating func begin() -> Action {
        guard changes == nil else { return .refuse("a transaction is open already; commit or cancel ends it") }
        changes = []
        return .answer(["what is set from here on waits for commit"])
    }

    private mutating func commit(_ present: LiveConfiguration) -> Action {
        guard let noted = changes else { return .refuse("there is nothing to commit; begin opens a transaction") }
        changes = nil
        do throws(QualityError) {
            return .apply(try Self.applied(noted, to: present))
        } catch {
            return .refuse("\(error.description); nothing has changed")
        }
    }

    private mutating func cancel() -> Action {
        guard let noted = changes else { return .refuse("there is nothing to cancel; begin opens a transaction") }
        changes = nil
        return .answer(["\(noted.count) changes are forgotten"])
    }

    private static func applied(
        _ changes: [Change], to present: LiveConfiguration
    ) throws(QualityError) -> LiveConfiguration {
        var result = present
        for change in changes { try result.set(change.name, to: change.value) }
        let mayRestart = result.settings.tierSwitch == .restartStream
        guard result.dimension == present.dimension || mayRestart else {
            throw .dimensionNeedsRestart(result.dimension.size)
        }
        return result
    }
}
