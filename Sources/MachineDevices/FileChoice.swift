import DevicePorts
import FileSources
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import SyntheticSources
import Terminal

/// A requested movie.
package struct MovieChoice: Hashable, Sendable {
    let path: String
    /// Whether it restarts at its end.
    var loops: Bool
    /// Shared by its video and audio.
    let clock = MovieClock()

    package init(path: String, loops: Bool = false) {
        self.path = path
        self.loops = loops
    }

    /// - Parameters:
    ///   - isOptional: whether a movie without audio is silent instead of an error.
    ///   - notify: receives problems of audio that is present.
    func openAudio(
        isOptional: Bool, sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (AudioEvent) -> Void
    ) throws(FileSourceError) -> any AudioSource {
        do throws(FileSourceError) {
            return try ThreadedAudio(path, stop: stop, notify: { notify(.source(event($0))) }) {
                [path, clock, loops] stop throws(FileSourceError) in
                try MovieAudio(path, clock: clock, loops: loops, stop: stop)
            }
        } catch {
            guard isOptional, case .noTrack(_, _, let found) = error else { throw error }
            if found != nil { notify(.note("\(error); sending silence")) }
            return SilenceSource(format: AudioFormat(sampleRate: sampleRate, channelCount: 2), stop: stop)
        }
    }

    private func event(_ event: ThreadedAudio.Event) -> SourceEvent {
        switch event {
        case .interrupted(let reason): .interrupted(.audio, source: "movie:\(path)", reason: reason)
        case .returned(let gap): .returned(.audio, source: "movie:\(path)", after: gap)
        }
    }
}

/// `image:FILE` or `movie:FILE[,loop=on|off]`.
enum FileChoice {
    case image(path: String)
    case movie(MovieChoice)

    /// - Returns: `nil` if the text starts with another scheme.
    init?(parsing text: String) throws(CommandFailure) {
        if text.hasPrefix("image:") {
            self = .image(path: try Self.path(text.dropFirst(6), of: "image:FILE"))
        } else if text.hasPrefix("movie:") {
            let (file, loops) = try Self.withoutLoop(text.dropFirst(6))
            self = .movie(MovieChoice(path: try Self.path(file, of: "movie:FILE[,loop=on]"), loops: loops ?? false))
        } else {
            return nil
        }
    }

    var video: VideoInput {
        switch self {
        case .image(let path): .image(path: path)
        case .movie(let movie): .movie(movie)
        }
    }

    private static func path(_ text: Substring, of form: String) throws(CommandFailure) -> String {
        guard !text.isEmpty else { throw .usage("the file name is missing; write \(form)") }
        guard text != "-" else { throw .usage("\(form) needs a file; standard input cannot be read from its end") }
        return String(text)
    }

    /// Paths may contain commas.
    private static func withoutLoop(_ text: Substring) throws(CommandFailure) -> (Substring, Bool?) {
        guard let comma = text.lastIndex(of: ","), text[comma...].hasPrefix(",loop") else { return (text, nil) }
        switch text[comma...] {
        case ",loop", ",loop=on": return (text[..<comma], true)
        case ",loop=off": return (text[..<comma], false)
        default: throw .usage("loop is on or off, not \(quoted(text[comma...].dropFirst(6).prefix(60)))")
        }
    }
}
