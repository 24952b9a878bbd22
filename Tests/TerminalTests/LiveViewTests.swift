import Glibc
import LinuxIO
import Media
import StreamLogic
import Testing

@testable import StreamQuality
@testable import Terminal

@Suite("Live view")
struct LiveViewTests {
    private let rates = StreamRates(
        videoFramesPerSecond: 29.5, audioPacketsPerSecond: 43, total: Bitrate(kilobitsPerSecond: 512))

    private var snapshot: StreamSnapshot {
        var sent = SentCounters()
        (sent.sentFrames, sent.droppedFrames) = (90, 2)
        var counters = EncodedCounters()
        (counters.skippedFrames, counters.decimatedFrames) = (3, 1)
        counters.videoSource.capturedFrames = 95
        let point = OperatingPoint(
            videoQuality: .medium1, videoBitrate: Bitrate(kilobitsPerSecond: 400),
            frameRate: FrameRate(framesPerSecond: 30), audioQuality: .high2)
        let configuration = LiveConfiguration(
            settings: QualitySettings(videoQuality: .medium1, audioQuality: .high2), dimension: .standard)
        var snapshot = StreamSnapshot(
            time: MediaTimestamp(milliseconds: 75_000), target: "server/live/***", state: .live,
            encoded: counters, sent: sent, configuration: configuration, point: point)
        snapshot.buffered = .milliseconds(500)
        snapshot.start = .zero
        return snapshot
    }

    /// The text that people see, without colors.
    private func shown(_ snapshot: StreamSnapshot, columns: Int = 100) -> [String] {
        LiveView.lines(snapshot, rates, columns: columns).map(withoutColors)
    }

    @Test func showsSentAndTargetRates() {
        let lines = shown(snapshot)
        #expect(lines[0] == " LIVE   server/live/***  1:15")
        #expect(lines[1].hasPrefix("  quality  Medium1 "))
        #expect(lines[2].hasPrefix("  video     29.5 fps") && lines[2].hasSuffix(" of 30"))
        #expect(lines[3].hasPrefix("  bitrate    512 kbit/s"))
        #expect(lines[4].hasPrefix("  target     528 kbit/s"))
        #expect(lines[5] == "  link         ? kbit/s  not saturated yet")
        #expect(lines[6].hasPrefix("  buffer    0.50 s"))
        #expect(lines[7] == "  frames   90 sent, 3 skipped by the encoder, 2 dropped, 1 decimated")
        #expect(lines[8] == "  camera   95 frames, 0 missed, 0 repeated, 0 decoded, 0 converted")
        #expect(lines.count == 9, "no microphone")
    }

    @Test func pausedStreamIsNotShownAsLive() {
        var paused = snapshot
        paused.isPaused = true
        #expect(shown(paused)[0] == " PAUSED   server/live/***  1:15")
        paused.isStalled = true
        #expect(shown(paused)[0].hasPrefix(" STALLED "))
    }

    @Test func showsTheReducedFrameSize() {
        var smaller = snapshot
        smaller.size = FrameSize(width: 1280, height: 720)
        smaller.point.frameSize = FrameSize(width: 640, height: 360)
        #expect(shown(smaller)[1] == "  quality  Medium1 640x360 of 1280x720")
        smaller.point.frameSize = smaller.size
        #expect(shown(smaller)[1] == "  quality  Medium1 1280x720")
    }

    @Test func showsTheReasonForAChangeAndTheLinksRate() {
        var changed = snapshot
        changed.reason = .linkCarriesLess
        changed.linkEstimate = Bitrate(kilobitsPerSecond: 480)
        changed.encoded.audioSource.capturedSamples = 1
        changed.encoded.audioSource.peakDecibels = -6
        let lines = shown(changed)
        #expect(lines[1].hasSuffix("  (the link carries less than is sent)"))
        #expect(lines[5].hasPrefix("  link       480 kbit/s"))
        #expect(lines[9] == "  audio    peak -6.0 dBFS, 0 overruns")
        let bar = String(repeating: "█", count: 27) + "░░░"
        #expect(lines[10] == "  level     -6.0 dBFS    \(bar)" && lines.count == 11)
        var quieter = AudioSourceStatistics()
        quieter.peakDecibels = -12.25
        changed.encoded.audioSource.sources = [quieter, AudioSourceStatistics()]
        changed.encoded.audioSource.driftPPM = 2.5
        #expect(shown(changed)[9] == "  audio    peak -6.0 dBFS of -12.3 and silent, 0 overruns, drift 2.5 ppm")
    }

    @Test func showsThatAudioIsMutedOrSilent() {
        var muted = snapshot
        muted.isMuted = true
        muted.encoded.audioSource.capturedSamples = 1
        let lines = shown(muted)
        #expect(lines[9] == "  audio    muted, silent, 0 overruns")
        #expect(lines[10] == "  level     none dBFS    \(String(repeating: "░", count: 30))  muted")
    }

    @Test func badgeIsRedOnlyWhileMediaGetsThrough() {
        func badge(_ state: StreamState, isStalled: Bool = false) -> String {
            var snapshot = snapshot
            (snapshot.state, snapshot.isStalled) = (state, isStalled)
            return String(LiveView.lines(snapshot, rates, columns: 80)[0].prefix { $0 != "s" && $0 != "S" })
        }
        #expect(badge(.live).hasPrefix("\u{1B}[1;41;97m LIVE "))
        #expect(badge(.connecting).hasPrefix("\u{1B}[1;43;30m CONNECTING "))
        #expect(badge(.live, isStalled: true).hasPrefix("\u{1B}[1;100;97m "))
        #expect(badge(.reconnecting).hasPrefix("\u{1B}[1;100;97m RECONNECTING "))
    }

    @Test(arguments: [40, 60, 80, 200])
    func noLineIsWiderThanTheTerminal(columns: Int) {
        var snapshot = snapshot
        snapshot.target = "a-host-with-a-long-name.example.com/application/***"
        snapshot.reason = .linkCarriesLess
        snapshot.isMuted = true
        snapshot.encoded.audioSource.capturedSamples = 1
        for line in shown(snapshot, columns: columns) where !line.hasPrefix("  link") {
            #expect(line.count <= columns, "\(line)")
        }
    }

    @Test func bufferIsGreenYellowAndRed() {
        func color(_ share: Double) -> String {
            var snapshot = snapshot
            snapshot.buffered = .nanoseconds(Int64(snapshot.bufferLimits.maxDuration.inSeconds * share * 1e9))
            let line = LiveView.lines(snapshot, rates, columns: 80)[6]
            return String(line.drop { $0 != "\u{1B}" }.dropFirst(2).prefix { $0 != "m" })
        }
        let limits = snapshot.bufferLimits
        #expect(color(limits.lowThreshold / 2) == "32")
        #expect(color((limits.lowThreshold + limits.highThreshold) / 2) == "33")
        #expect(color((limits.highThreshold + 1) / 2) == "31")
    }

    // MARK: On a terminal

    @Test func viewStaysBelowTheLogAndEndsWithTheStream() throws {
        setenv("TERM", "xterm", 1)
        let terminal = try PseudoTerminal(columns: 100)
        let output = try Pipe()
        var descriptors = Console.Descriptors()
        (descriptors.events, descriptors.log) = (output.input, terminal.terminal)
        let console = try Console(eventStyle: .json, descriptors: descriptors)
        // Its thread must not write to these descriptors after they have been reused.
        defer { withExtendedLifetime((terminal, output)) { console.finishWriting() } }
        #expect(console.hasTerminal && console.columns == 100)
        let view = StreamView(console)
        view.take(.snapshot(snapshot))
        view.typed(prompt: "> mut")
        let drawn = withoutColors(
            terminal.takeText(until: "> mut\r\n"))
        #expect(drawn.contains(" LIVE   server/live/***") && drawn.hasSuffix("> mut\r\n"), "\(drawn)")

        view.take(.event(.linkDown))
        let beside = terminal.takeText(until: "> mut\r\n")
        // Ten lines up, cleared, the event, and the redrawn view.
        #expect(beside.hasPrefix("\u{1B}[10A\r\u{1B}[J"), "\(beside)")
        let event = try #require(beside.range("the network link is down"))
        let badge = try #require(beside.range("LIVE"))
        #expect(event < badge)

        view.take(.snapshot(nil))
        view.take(.log("ended"))
        let end = terminal.takeText(until: " ended\r\n")
        #expect(
            end.hasPrefix("\u{1B}[10A\r\u{1B}[J") && end.hasSuffix(" ended\r\n") && end.range("LIVE") == nil, "\(end)")
        console.finishWriting()
        #expect(output.takeText().hasSuffix("\"name\":\"linkDown\"}\n"))
    }

    private func withoutColors(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "\u{1B}") {
            result += rest[..<start]
            rest = rest[start...].drop { !$0.isLetter }.dropFirst()
        }
        return result + rest
    }
}

extension String {
    /// Start of the first match.
    fileprivate func range(_ text: String) -> Index? {
        indices.first { self[$0...].hasPrefix(text) }
    }
}
