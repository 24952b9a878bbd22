import Media
import Testing

@testable import StreamLogic
@testable import StreamQuality

/// The screen's text about a live stream.
@Suite struct StreamPageTests {
    private static let start = MediaTimestamp(milliseconds: 10_000)

    private func snapshot(
        at seconds: Double, _ state: StreamState = .live, sentBytes: Int = 0, isStalled: Bool = false,
        peak: Double? = nil, samples: Int = 0
    ) -> StreamSnapshot {
        var sent = SentCounters()
        sent.sentVideoBytes = sentBytes
        sent.sentFrames = Int(seconds * 30)
        var counters = EncodedCounters()
        counters.audioSource.capturedSamples = samples
        counters.audioSource.peakDecibels = peak
        var snapshot = StreamSnapshot(
            time: Self.start + .milliseconds(Int64(seconds * 1000)), target: "server/live/***", state: state,
            encoded: counters, sent: sent, configuration: EventSamples.configuration,
            point: EventSamples.point)
        snapshot.start = state == .connecting ? nil : Self.start
        snapshot.isStalled = isStalled
        return snapshot
    }

    private func page(_ snapshots: StreamSnapshot...) -> ScreenPage? {
        var page = StreamPage()
        for snapshot in snapshots { page.update(snapshot) }
        return page.page
    }

    @Test func liveStreamShowsDurationAndRate() {
        let page = page(snapshot(at: 754), snapshot(at: 755, sentBytes: 126_500))
        #expect(page?.tone == .live)
        #expect(page?.headline == "live 00:12:35")
        #expect(page?.lines == ["Medium1 640x480  1012 of 640 kbit/s  30 fps"])
    }

    @Test func pausedStreamIsNotShownAsLive() {
        var paused = snapshot(at: 755)
        paused.isPaused = true
        let page = page(paused)
        #expect(page?.tone == .waiting && page?.headline == "paused 00:12:35")
    }

    @Test func ratesCoverTheLastTwoSeconds() {
        let page = page(
            snapshot(at: 0), snapshot(at: 10, sentBytes: 1_000_000), snapshot(at: 11, sentBytes: 1_064_000))
        #expect(page?.lines.first == "Medium1 640x480  512 of 640 kbit/s  30 fps")
    }

    @Test(arguments: [
        (0.0, "00:00:00"), (59.9, "00:00:59"), (3600, "01:00:00"), (360_061, "100:01:01"), (-5, "00:00:00"),
    ])
    func formatsTheDuration(seconds: Double, text: String) {
        #expect(StreamPage.clock(.milliseconds(Int64(seconds * 1000))) == text)
    }

    @Test(arguments: [
        (StreamState.connecting, ScreenPage.Tone.waiting, "connecting"),
        (.reconnecting, .waiting, "connection lost; reconnecting"), (.disconnecting, .waiting, "ending"),
        (.disconnected, .idle, "not live"), (.error, .fault, "ended by a fault"),
    ])
    func everyStateHasAHeadline(state: StreamState, tone: ScreenPage.Tone, headline: String) {
        let page = page(snapshot(at: 5, state))
        #expect(page?.tone == tone && page?.headline == headline)
    }

    @Test func stalledStreamIsNotShownAsLive() {
        let page = page(snapshot(at: 5, isStalled: true))
        #expect(page?.tone == .waiting && page?.headline == "live, but nothing gets through")
    }

    @Test(arguments: [
        (-3.0, "audio  [###################-] -3 dB"), (-30, "audio  [##########----------] -30 dB"),
        (-96, "audio  [--------------------] -96 dB"), (6, "audio  [####################] 6 dB"),
    ])
    func levelIsABar(peak: Double, line: String) {
        #expect(page(snapshot(at: 5, peak: peak, samples: 1))?.lines.last == line)
    }

    @Test func silenceIsShownButMissingAudioIsNot() {
        #expect(page(snapshot(at: 5, samples: 1))?.lines.last == "audio  silent")
        #expect(page(snapshot(at: 5))?.lines.count == 1)
    }

    @Test func mutedStreamShowsNoLevel() {
        var snapshot = snapshot(at: 5, peak: -3, samples: 1)
        snapshot.isMuted = true
        #expect(page(snapshot)?.lines.last == "audio  muted")
    }

    @Test func noPageWithoutAStream() {
        var page = StreamPage()
        #expect(page.page == nil)
        page.update(snapshot(at: 5))
        page.end()
        #expect(page.page == nil)
    }
}
