import Bitstream
import Controls
import Filters
import Media
import MediaTestSupport
import StreamLogic
import Testing

/// Compares the rendered events with docs/reference/events.md, so that undocumented cases are found.
@Suite("Event rendering")
struct EventRenderingTests {
    private let table: EventTable

    init() throws { table = try EventTable(of: "tallycam publish") }

    @Test func tableNamesExactlyTheEvents() {
        let rendered = Set(EventSamples.all.map(\.name))
        #expect(rendered == Set(table.names))
        #expect(table.names.count == Set(table.names).count)
        #expect(Set(EventSamples.all.map(Kind.init)) == Set(Kind.allCases).subtracting([.fileStatus, .fileEnded]))
    }

    @Test(arguments: EventSamples.full)
    func eachEventMatchesItsDocumentation(event: StreamEvent) throws {
        let row = try table.row(of: event.name)
        #expect(event.fields.map(\.name) == row.fields)
        if let code = row.code(of: event.name) { #expect(event.code?.rawValue ?? 0 == code) }
        if let code = event.code, code.rawValue > 0, event.name != "bufferFull" { #expect(event.name == code.name) }
    }

    @Test(arguments: EventSamples.sparse)
    func onlyDocumentedFieldsAreOptional(event: StreamEvent) throws {
        let row = try table.row(of: event.name)
        #expect(
            event.fields.map(\.name)
                == row.fields.filter { name in
                    !row.optionalFields.contains(name) || event.fields.contains { $0.name == name }
                })
        let missing = Set(row.fields).subtracting(event.fields.map(\.name))
        #expect(missing.isSubset(of: row.optionalFields))
        #expect(!missing.isEmpty || event.name == "failed")
    }

    @Test func fileStatusIsAShorterStatus() {
        let status = StreamEvent.fileStatus(
            FileStreamStatus(state: .live, rates: EventSamples.rates, sentFrames: 88, sentAudioPackets: 129))
        #expect(
            line(status)
                == "2002 status state=live videoFramesPerSecond=29.5 audioPacketsPerSecond=43.0 "
                + "bitsPerSecond=512400 videoFrames=88 audioPackets=129")
        #expect(status.text == "29.5 fps, 512 kbit/s, 88 frames sent")
        var tally = MediaTally()
        for time in [0, 40, 80] as [UInt32] {
            tally.add(FLVTag(kind: .video, timestamp: time, body: [0x17, 1, 0, 0, 0, 9]))
        }
        let end = StreamEvent.fileEnded(tally)
        #expect(
            line(end)
                == "0 ended videoFrames=3 videoBytes=18 videoSkipped=0 videoDropped=0 videoDecimated=0 audioPackets=0 "
                + "audioBytes=0 audioSeconds=0.0")
        #expect(end.text == "ended: 3 frames and 0.0 s of audio sent")
    }

    // MARK: Texts

    @Test func scriptsGetTheValues() {
        #expect(line(.connected(server: "host:1935")) == "1001 connected server=host:1935")
        #expect(line(.publishing(destination: "server")) == "1002 publishing")
        #expect(
            line(.reconnecting(attempt: 2, limit: 3, delay: .milliseconds(1500)))
                == "1102 reconnecting attempt=2 limit=3 delay=1.5")
        #expect(
            line(.retry(EventSamples.failure, .lookup)) == "3001 retryAfterLookup cause=-1000 reason=not found")
        #expect(line(.failed(.recoveriesFailed, message: "gone")) == "-1307 failed message=gone")
        #expect(line(.failed(nil, message: "gone")) == "0 failed message=gone")
        #expect(line(.stateChanged(.live)) == "2001 stateChanged state=live")
        #expect(line(.bufferFull) == "1101 bufferFull")
        #expect(line(.muted(true)) == "0 muted muted=true")
        #expect(line(.paused(true)) == "2013 paused paused=true")
        #expect(
            line(.dropped(EventSamples.item, time: .milliseconds(2500)))
                == "0 dropped kind=audio time=2.5 bytes=371 reason=awaitingKeyframe")
        #expect(
            line(.source(.returned(.audio, source: "hw:1", after: .milliseconds(2250))))
                == "0 sourceReturned track=audio source=hw:1 seconds=2.25")
        #expect(
            line(.qualityChanged(EventSamples.change))
                == "2005 qualityChanged reason=linkCarriesLess meaning=the link carries less than is sent quality=Low1 "
                + "targetBitsPerSecond=264000 videoBitsPerSecond=200000 targetFramesPerSecond=12 width=320 height=240 "
                + "audioBitsPerSecond=64000 previousBitsPerSecond=640000 linkBitsPerSecond=480000")
        #expect(
            line(.status(EventSamples.status))
                == "2002 status state=live paused=false encoder=v4l2:/dev/video11 camera=front liveSeconds=75.0 muted=false videoFramesPerSecond=29.5 "
                + "audioPacketsPerSecond=43.0 bitsPerSecond=512400 bufferedSeconds=0.25 videoFrames=90 videoSkipped=3 "
                + "videoDropped=2 videoDecimated=1 quality=Medium1 targetBitsPerSecond=640000 videoBitsPerSecond=512000 "
                + "targetFramesPerSecond=30 width=640 height=480 audioBitsPerSecond=128000 sourceFrames=95 sourceDropped=0 "
                + "sourceStartup=0 sourceSuperseded=0 sourceRepeated=1 "
                + "sourceDecoded=0 sourceRotated=0 sourceConverted=11 sourcePasses=23 sourceMapped=0 "
                + "sourceInterruptions=0 audioSamples=132300 audioSilent=0 audioOverruns=0 audioInterruptions=0 "
                + "audioDriftPPM=12.5 audioPeakDecibels=-3.25 audioMeanDecibels=-18.0 "
                + "audioHardwareGainDecibels=12.0 audioDigitalGainDecibels=-0.5 previewFrames=88 previewLost=4 previewConverted=2 "
                + "eachAudioSamples=44100.0,0.0 eachAudioSilent=0.0,512.0 eachAudioDriftPPM=2.5,- "
                + "eachAudioPeakDecibels=-6.0,- eachAudioMeanDecibels=-9.0,- "
                + "eachAudioHardwareGainDecibels=18.5,- eachAudioDigitalGainDecibels=1.5,-60.0 filters=text "
                + "filterFrames=90.0 filterNanoseconds=4500000.0 linkBitsPerSecond=480000 reason=probing")
    }

    @Test(arguments: [
        (EventCode.machineRestarting, "a video encoder failed; restarting the machine"),
        (.paused, "the stream was paused or resumed"),
        (.invalidProtocol, "the server sent data that is not RTMP"),
    ])
    func eachCodeHasItsMeaning(code: EventCode, meaning: String) { #expect(code.meaning == meaning) }

    @Test(
        arguments: [
            (.stateChanged(.live), "state: live"),
            (.connected(server: "10.0.0.1:1935"), "connected to 10.0.0.1:1935"),
            (.tlsFallback(reason: "host:443 speaks TLS 1.2"), "host:443 speaks TLS 1.2"),
            (.publishing(destination: "server/live/***"), "live at server/live/***"),
            (.retry(EventSamples.failure, .close), "not found"),
            (.reconnecting(attempt: 2, limit: 3, delay: .milliseconds(1500)), "reconnecting in 1.5 s (attempt 2 of 3)"),
            (.reconnecting(attempt: 2, limit: nil, delay: .zero), "reconnecting in 0.0 s (attempt 2)"),
            (.serverChanged, "moved to another server at the server's request"),
            (.serverChangeFailed(EventSamples.failure), "could not move to another server; staying: not found"),
            (.linkDown, "the network link is down; waiting for it to return"),
            (.linkUp, "the network link is up"),
            (
                .status(EventSamples.status),
                "29.5 fps, 512 of 640 kbit/s (Medium1), 0.25 s buffered, 90 frames sent, 3 skipped, 2 dropped, 1 decimated"
            ),
            (
                .qualityChanged(EventSamples.change),
                "quality: Low1, 12 fps, 200 kbit/s, 320x240, audio 64 kbit/s (the link carries less than is sent; the link carries "
                    + "about 480 kbit/s)"
            ),
            (.uplinkTooSlow(bitrate: EventSamples.carried), "the uplink is too slow"),
            (.measured(EventSamples.measurement, linkEstimate: nil), nil), (.bufferEmpty, "the send buffer is empty"),
            (.bufferHigh, "the send buffer rose above its high threshold"),
            (.bufferLow, "the send buffer fell below its low threshold"),
            (.bufferFull, "the uplink is too slow: the send buffer is full"),
            (.serverAway, "the server accepts no data: the send buffer is full"),
            (.bufferDuration(.zero), nil),
            (.dropped(EventSamples.item, time: .zero), nil),
            (
                .softwareEncoderInUse(reason: "it hangs"),
                "the hardware encoder failed; the software encoder is in use: it hangs"
            ),
            (.encoderRestarted(reason: "it hangs"), "the encoder failed and was restarted: it hangs"),
            (
                .hardwareEncoderDead(reason: "it hangs"),
                "the hardware encoder is dead until the machine restarts: it hangs"
            ),
            (
                .source(
                    .started(.camera("front", FrameSize(width: 1280, height: 720), FrameRate(framesPerSecond: 30)))),
                "frames arrive from front: 1280x720, 30 fps"
            ),
            (
                .source(.started(.microphone(sampleRate: 48_000, channelCount: 2))),
                "the microphone delivers audio: 48000 Hz, stereo"
            ),
            (
                .source(.interrupted(.video, source: "/dev/video0", reason: "unplugged")),
                "unplugged; repeating the last frame until /dev/video0 is back"
            ),
            (
                .source(.interrupted(.audio, source: "hw:1", reason: "unplugged")),
                "unplugged; sending silence until hw:1 is back"
            ),
            (.source(.returned(.audio, source: "hw:1", after: .milliseconds(2250))), "hw:1 is back after 2.3 s"),
            (.sourceEnded(.video, note: "the file has ended"), "the file has ended"),
            (
                .controlled([
                    ControlReading(.gain, .number(8), reported: "gain 2"),
                    ControlReading(.mirror, .flag(true), reported: nil),
                ]), "now gain 8 (gain 2), mirror on"
            ),
            (
                .cameraSwitched(from: "front", to: "back", after: .milliseconds(350)),
                "switched from front to back in 0.4 s"
            ),
            (
                .cameraSwitchFailed("back", reason: "it is unplugged", keeping: "front"),
                "could not switch to back; staying on front: it is unplugged"
            ),
            (.filterDropped(FilterID(.smooth)), "filter smooth is turned off: it takes too much time"),
            (.filterRestored(FilterID(.smooth)), "filter smooth is on again"),
            (.filtered(EventSamples.filters), #"filters: text,text="Studio, {time}",position=top-left gray"#),
            (.filtered(FilterChain()), "filters: none"),
            (.refused(.notStarted), "refused: the stream has not started"), (.muted(true), "muted: sending silence"),
            (.muted(false), "no longer muted"), (.paused(true), "paused: sending a still frame and silence"),
            (.paused(false), "no longer paused"),
            (
                .pauseImageUnusable(reason: "a.png is empty"),
                "the pause image cannot be used; showing the last frame instead: a.png is empty"
            ),
            (EventSamples.snapshot(in: "/tmp/a.jpg"), "snapshot of 640x480, 81000 bytes in /tmp/a.jpg"),
            (EventSamples.snapshot(in: nil), "snapshot of 640x480, 81000 bytes"),
            (EventSamples.noSnapshot, "no snapshot: the disk is full"),
            (
                .ended(EventSamples.encoded, EventSamples.sent, audioSeconds: 61.25),
                "ended: 90 frames and 61.3 s of audio sent, 3 frames skipped by the encoder, 2 dropped, 1 decimated"
            ),
            (.failed(.closedByPeer, message: "gone"), nil),
        ] as [(StreamEvent, String?)])
    func eachEventHasItsText(event: StreamEvent, text: String?) { #expect(event.text == text) }

    /// Frames that a slow processor did not fetch, so that they never reached the encoder.
    @Test func missedFramesAreShownOnlyIfThereAreAny() {
        var counters = EventSamples.encoded
        #expect(counters.missedText == "")
        counters.videoSource.droppedFrames = 7
        let ended = StreamEvent.ended(counters, EventSamples.sent, audioSeconds: 61.25)
        #expect(ended.text?.hasSuffix("2 dropped, 1 decimated, 7 missed") == true)
        #expect(line(ended).contains(" sourceFrames=95 sourceDropped=7 sourceRepeated=1 "))
    }

    @Test func configurationIsRenderedAsCommandsTakeIt() {
        let settings = EventSamples.configuration.values.map(\.description).joined(separator: ", ")
        let event = StreamEvent.configured(EventSamples.configuration)
        #expect(line(event) == "0 configured settings=\(settings)")
        #expect(event.text == "now \(settings)")
    }

    @Test func sendBufferEventsAreReportedOneByOne() {
        let items = [EventSamples.item, EventSamples.item]
        let start = MediaTimestamp(milliseconds: 2500)
        let event = StreamEvent.dropped(EventSamples.item, time: .milliseconds(2500))
        #expect(StreamEvent.ofSendBuffer(.droppedItems(items), since: start) == [event, event])
        #expect(
            StreamEvent.ofSendBuffer(.droppedItems([EventSamples.item]), since: nil)
                == [.dropped(EventSamples.item, time: .zero)])
        #expect(StreamEvent.ofSendBuffer(.keyframeNeeded, since: start) == [])
        #expect(StreamEvent.ofSendBuffer(.full, since: start) == [.bufferFull])
        #expect(StreamEvent.ofSendBuffer(.full, since: start, isServerAway: true) == [.serverAway])
    }

    private func line(_ event: StreamEvent) -> String {
        let fields = event.fields.map { name, value in
            switch value {
            case .text(let text): " \(name)=\(text)"
            case .integer(let number): " \(name)=\(number)"
            case .number(let number): " \(name)=\(number)"
            case .flag(let flag): " \(name)=\(flag)"
            case .texts(let texts): " \(name)=" + texts.joined(separator: "|")
            case .numbers(let values): " \(name)=" + values.map { $0.map { "\($0)" } ?? "-" }.joined(separator: ",")
            }
        }
        return "\(event.code?.rawValue ?? 0) \(event.name)" + fields.joined()
    }
}

/// The cases without their payloads. A new case does not compile until it is listed here, and does not pass until it
/// has a sample.
private enum Kind: CaseIterable {
    case stateChanged, connected, tlsFallback, publishing, retry, reconnecting, serverChanged, serverChangeFailed
    case linkDown, linkUp
    case status, fileStatus, qualityChanged, uplinkTooSlow, measured
    case bufferEmpty, bufferHigh, bufferLow, bufferFull, serverAway, bufferDuration, dropped
    case softwareEncoderInUse, encoderRestarted, hardwareEncoderDead, source, sourceEnded
    case cameraSwitched, cameraSwitchFailed, filterDropped, filterRestored
    case configured, controlled, filtered, refused, muted, paused, pauseImageUnusable, snapshot, preview, ended,
        fileEnded, failed

    init(_ event: StreamEvent) {
        switch event {
        case .stateChanged: self = .stateChanged
        case .connected: self = .connected
        case .tlsFallback: self = .tlsFallback
        case .publishing: self = .publishing
        case .retry: self = .retry
        case .reconnecting: self = .reconnecting
        case .serverChanged: self = .serverChanged
        case .serverChangeFailed: self = .serverChangeFailed
        case .linkDown: self = .linkDown
        case .linkUp: self = .linkUp
        case .status: self = .status
        case .fileStatus: self = .fileStatus
        case .qualityChanged: self = .qualityChanged
        case .uplinkTooSlow: self = .uplinkTooSlow
        case .measured: self = .measured
        case .bufferEmpty: self = .bufferEmpty
        case .bufferHigh: self = .bufferHigh
        case .bufferLow: self = .bufferLow
        case .bufferFull: self = .bufferFull
        case .serverAway: self = .serverAway
        case .bufferDuration: self = .bufferDuration
        case .dropped: self = .dropped
        case .softwareEncoderInUse: self = .softwareEncoderInUse
        case .encoderRestarted: self = .encoderRestarted
        case .hardwareEncoderDead: self = .hardwareEncoderDead
        case .source: self = .source
        case .sourceEnded: self = .sourceEnded
        case .cameraSwitched: self = .cameraSwitched
        case .cameraSwitchFailed: self = .cameraSwitchFailed
        case .filterDropped: self = .filterDropped
        case .filterRestored: self = .filterRestored
        case .configured: self = .configured
        case .filtered: self = .filtered
        case .controlled: self = .controlled
        case .refused: self = .refused
        case .muted: self = .muted
        case .paused: self = .paused
        case .pauseImageUnusable: self = .pauseImageUnusable
        case .preview: self = .preview
        case .snapshot: self = .snapshot
        case .ended: self = .ended
        case .fileEnded: self = .fileEnded
        case .failed: self = .failed
        }
    }
}
