import Controls
import DevicePorts
import Encoding
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Testing
import Transport
import VideoCapture
import WireSupport

@testable import Publishing

/// A whole live stream, from a fake camera to a scripted server.
@Suite struct LiveStreamTests {
    private let time = VirtualTime()

    @Test func aStreamIsChangedMutedAndStopped() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].tags.count > 40 })
            #expect(stream.recorder.states == [.connecting, .live])
            #expect(stream.recorder.count(.connected) == 1 && stream.recorder.count(.publishing) == 1)
            // Each track's header comes first; then a keyframe, and audio.
            let (video, audio) = (
                server[1].tags.filter { $0.kind == .video }, server[1].tags.filter { $0.kind == .audio }
            )
            #expect(video.prefix(2).map { $0.body[0...1] } == [[0x17, 0], [0x17, 1]])
            #expect(audio.prefix(2).map { $0.body[1] } == [0, 1])

            #expect(becomesTrue { stream.recorder.count(.status) > 0 })
            let configured = stream.recorder.names.count { $0 == "configured" }
            stream.commands.send(.apply(RequestedChanges(configuration: [.quality(.low2)])))
            #expect(becomesTrue { stream.recorder.names.count { $0 == "configured" } == configured + 1 })
            stream.commands.send(.apply(RequestedChanges(configuration: [.quality(.low2)])))
            #expect(becomesTrue { stream.recorder.notes == ["nothing to change"] })
            stream.commands.send(
                .apply(RequestedChanges(configuration: [.dimension(try VideoDimension(parsing: "320x240"))])))
            #expect(becomesTrue { stream.recorder.names.contains("refused") })
            stream.commands.send(.listSettings(CommandID(1)))
            stream.commands.send(.listControls(CommandID(2)))
            stream.commands.send(.reportStatus(CommandID(3)))
            #expect(becomesTrue { stream.recorder.answers.count == 3 })
            guard case .done(let settings) = stream.recorder.answers[CommandID(1)],
                case .controls(let controls) = stream.recorder.answers[CommandID(2)],
                case .status(let status) = stream.recorder.answers[CommandID(3)]
            else {
                Issue.record("\(stream.recorder.answers)")
                return
            }
            #expect(settings.first == "quality Low2")
            #expect(settings.suffix(2) == ["keep-audio-quality off", "mute off"])
            #expect(controls.contains { $0.offer.name == .flip && $0.offer.absence == nil })
            #expect(status.state == .live && status.point.qualityName == "Low2")
            stream.commands.send(.toggleMute)
            #expect(becomesTrue { stream.recorder.streamEvents.contains(.muted(true)) })
            #expect(server.connectionCount == 1)

            stream.commands.send(.stop)
            #expect(try stream.end() == nil)
            #expect(stream.recorder.states == [.connecting, .live, .disconnecting, .disconnected])
            #expect(stream.recorder.names.last == "ended")
            #expect(becomesTrue { server[1].isClosed })
            #expect(server[1].hasEnded && !server[1].isReset)
        }
    }

    @Test func theSourcesFramesAreOfferedToThePreview() throws {
        try time.run {
            let server = try ScriptedServer()
            let preview = RecordedPreview()
            let stream = try StreamUnderTest(on: server, preview: preview)
            #expect(becomesTrue { server[1].tags.count > 40 && preview.record.captureTimes.count > 20 })
            #expect(becomesTrue { stream.recorder.events("status").count > 1 })
            try stream.stop()
            let record = preview.record
            #expect(record.captureTimes == record.captureTimes.sorted())
            #expect(Set(record.captureTimes).count == record.captureTimes.count)
            #expect(record.ends == 1)
        }
    }

    /// Each frame once, before the server has answered and after.
    @Test func whoeverLooksBesideTheStreamDoesNotWaitForTheServer() throws {
        try time.run {
            let isAnswering = Mutex(false)
            let server = try ScriptedServer { _ in isAnswering.withLock { $0 } ? .accept() : .unanswered }
            let (preview, listener) = (RecordedPreview(), Listener())
            let stream = try StreamUnderTest(on: server, preview: preview, listener: listener)
            #expect(becomesTrue { preview.record.captureTimes.count > 60 && listener.blocks.withLock { $0 } > 60 })
            #expect(stream.recorder.states == [.connecting])
            isAnswering.withLock { $0 = true }
            #expect(becomesTrue(within: .seconds(40)) { stream.recorder.states.contains(.live) })
            let connections = server.connectionCount
            #expect(becomesTrue { server[connections].tags.count > 40 })
            try stream.stop()
            let record = preview.record
            #expect(record.captureTimes == record.captureTimes.sorted() && record.ends == 1)
            #expect(Set(record.captureTimes).count == record.captureTimes.count)
            // The first frame that is sent needs none before it.
            #expect(server[connections].tags.first { $0.kind == .video && $0.body[1] == 1 }?.body[0] == 0x17)
        }
    }

    /// A camera's first frame after the answer is of the time before: nothing that is sent needs it.
    @Test func nothingIsDroppedOfAStreamThatSomebodySawBefore() throws {
        try time.run {
            let isAnswering = Mutex(false)
            let server = try ScriptedServer { _ in isAnswering.withLock { $0 } ? .accept() : .unanswered }
            let preview = RecordedPreview()
            let stream = try StreamUnderTest(on: server, video: .slow, preview: preview)
            #expect(becomesTrue { preview.record.captureTimes.count > 60 })
            isAnswering.withLock { $0 = true }
            #expect(becomesTrue(within: .seconds(40)) { stream.recorder.states.contains(.live) })
            let connections = server.connectionCount
            #expect(becomesTrue { server[connections].tags.count > 60 })
            try stream.stop()
            #expect(stream.recorder.events("dropped").isEmpty)
            let frames = server[connections].tags.filter { $0.kind == .video && $0.body[1] == 1 }
            let keyframes = frames.prefix(20).count { $0.body[0] == 0x17 }
            #expect(keyframes == 1)
        }
    }

    @Test func whoeverLooksWhileItConnectsSeesWhatWillBeSent() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unanswered }
            let preview = RecordedPreview()
            let stream = try StreamUnderTest(
                on: server, video: .slow, preview: preview, controls: [ControlChange(.mirror, .flag(true))])
            // The processor turns them, and gives them in planes.
            #expect(
                becomesTrue { preview.record.formats.suffix(10) == [PixelFormat](repeating: .i420, count: 10)[...] })
            #expect(stream.recorder.states == [.connecting])
            try stream.stop()
        }
    }

    /// Audio is read at once: a minute's backlog in the card could not be caught up when the server answers.
    @Test func audioThatWasHeardOnceIsReadUntilTheServerAnswers() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unanswered }
            let listener = Listener()
            let stream = try StreamUnderTest(on: server, reconnects: .endless, listener: listener)
            #expect(becomesTrue { listener.blocks.withLock { $0 } > 10 })
            listener.isListening.withLock { $0 = false }
            #expect(becomesTrue(within: .seconds(70)) { listener.blocks.withLock { $0 } > 60 * 43 })
            try stream.stop()
        }
    }

    private final class Listener: AudioSink {
        let blocks = Mutex(0)
        let isListening = Mutex(true)
        var wantsAudio: Bool { isListening.withLock { $0 } }
        func offer(_ block: AudioBlock, format: AudioFormat) { blocks.withLock { $0 += 1 } }
    }

    @Test func aPolicyThatTheServiceMayNotTakeIsWarnedOfWhileLive() throws {
        try time.run {
            let server = try ScriptedServer()
            let twitch = RTMPURL(scheme: .rtmp, host: "live.twitch.tv", application: "app", streamName: "key")
            let stream = try StreamUnderTest(on: server, to: PublishDestination(url: twitch))
            #expect(becomesTrue { server[1].tags.count > 10 })
            stream.commands.send(.apply(RequestedChanges(configuration: [.resize(.seamless)])))
            #expect(becomesTrue { stream.recorder.notes.count { $0.hasPrefix("warning: Twitch may not follow") } == 1 })
            try stream.stop()
        }
    }

    /// The audio's packets follow each other meanwhile, and who asked is answered.
    @Test func theCameraIsSwitchedWithinTheStream() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, cameras: ["front", "back", "side"])
            #expect(becomesTrue { server[1].tags.count > 40 })
            stream.commands.send(.switchCamera(.named("bakc"), CommandID(1)))
            stream.commands.send(.switchCamera(.named("front"), CommandID(2)))
            stream.commands.send(.switchCamera(.next, CommandID(3)))
            stream.commands.send(.switchCamera(.next, CommandID(4)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(4)] == .done(["the camera is side now"]) })
            let refusal = CommandRefusal.unknownCamera("bakc", available: ["front", "back", "side"])
            #expect(stream.recorder.answers[CommandID(1)] == .refused(refusal))
            #expect(stream.recorder.answers[CommandID(2)] == .done(["the camera is front already"]))
            #expect(stream.recorder.answers[CommandID(3)] == .refused(.superseded))
            stream.commands.send(.listSettings(CommandID(5)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(5)] != nil })
            let settings = stream.recorder.answers[CommandID(5)]?.lines
            #expect(settings?.contains("camera side (of front, back, side)") == true)
            try stream.stop()
            let switches = stream.recorder.streamEvents.compactMap { event -> String? in
                if case .cameraSwitched(_, let name, _) = event { name } else { nil }
            }
            #expect(switches.last == "side")
            #expect(server.connectionCount == 1)
            let audio = server[1].tags.filter { $0.kind == .audio }.map(\.timestamp)
            #expect(zip(audio.dropFirst(), audio.dropFirst(2)).allSatisfy { (22...24).contains($1 - $0) })
            let video = server[1].tags.filter { $0.kind == .video && $0.body[1] == 1 }.map(\.timestamp)
            #expect(zip(video, video.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    /// Another profile: players could not follow within the stream.
    @Test func aChangeThatPlayersCannotFollowEndsTheStreamAndStartsItAgain() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].tags.count > 10 })
            stream.commands.send(.apply(RequestedChanges(configuration: [.policy(.restart)])))
            stream.commands.send(
                .apply(RequestedChanges(configuration: [.dimension(try VideoDimension(parsing: "80x64"))])))
            #expect(becomesTrue { shortForm(server[2].tags).count > 5 })
            #expect(server[1].hasEnded && !server[1].isReset)
            #expect(shortForm(server[2].tags).first == "header")
            #expect(stream.recorder.states.suffix(3) == [.disconnected, .connecting, .live])
            try stream.stop()
        }
    }

    @Test func aLostConnectionIsFollowedByAnotherFromHeadersAndAKeyframe() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].tags.count > 10 })
            server.perform(.close, on: 1)
            #expect(becomesTrue { shortForm(server[2].tags).count > 5 })
            let kinds = shortForm(server[2].tags).map { $0.split(separator: " ")[0] }
            #expect(kinds.prefix(2) == ["header", "key"] && !kinds.dropFirst().contains("header"))
            #expect(server[2].tags.contains { $0.kind == .audio && $0.body[1] == 0 })
            #expect(stream.recorder.count(.retryAfterClose) == 1 && stream.recorder.count(.reconnecting) == 1)
            #expect(stream.recorder.states == [.connecting, .live, .reconnecting, .live])
            // The clock goes on.
            #expect(server[2].tags[0].timestamp > server[1].tags.last?.timestamp ?? .max)
            try stream.stop()
        }
    }

    @Test func aServerThatRefusesForGoodEndsTheStream() throws {
        try time.run {
            let server = try ScriptedServer { _ in .accept(.refusing(connect: "NetConnection.Connect.InvalidApp")) }
            let stream = try StreamUnderTest(on: server)
            #expect(try stream.end()?.code == .invalidApplication)
            #expect(server.connectionCount == 1)
            #expect(stream.recorder.states == [.connecting, .error])
        }
    }

    @Test func threeVainAttemptsAfterALossAreTheEnd() throws {
        try time.run {
            let refusal = TransportError.connectFailed(Endpoint(host: "live.example", port: 1935), attempts: [])
            let server = try ScriptedServer { $0 == 1 ? .accept() : .unreachable(refusal) }
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].isPublishing })
            let start = MonotonicClock.now()
            server.perform(.reset, on: 1)
            #expect(try stream.end()?.code == .recoveriesFailed)
            // After half a second, one and two, each shortened by up to a quarter.
            #expect(MonotonicClock.now() - start >= .milliseconds(2625))
            #expect(server.connectionCount == 4)
            #expect(stream.recorder.count(.reconnecting) == 3 && stream.recorder.count(.retryAfterConnect) == 2)
            #expect(stream.recorder.states.last == .error)
        }
    }

    @Test func attemptsThatNeverReachedTheServerEndWithTheirOwnCode() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unreachable(.timedOut(peer: "live.example:1935", .connect)) }
            let stream = try StreamUnderTest(on: server, reconnects: .attempts(1))
            #expect(try stream.end()?.code == .timedOut)
            #expect(server.connectionCount == 2)
        }
    }

    @Test func aServerThatDoesNotAnswerIsLeftForAnotherConnection() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, reconnects: .endless)
            #expect(becomesTrue { server[1].tags.count > 10 })
            server[1].wire?.content.withLock { $0.isUnanswered = true }
            server.perform(.stopReading, on: 1)
            #expect(becomesTrue { server[2].isPublishing })
            // The name is free before the new connection asks for it.
            #expect(server[1].wire?.content.withLock { $0.isAborted } == true)
            #expect(becomesTrue { shortForm(server[2].tags).first == "header" })
            try stream.stop()
        }
    }

    @Test func aStreamMovesAtAKeyframeWhenItsServerAsks() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].tags.count > 10 })
            server.perform(.reconnectRequest(tcURL: "rtmp://other.example/app"), on: 1)
            #expect(becomesTrue { shortForm(server[2].tags).count > 5 })
            #expect(server[2].application == "app" && server[2].streamName == "key")
            #expect(becomesTrue { server[1].isClosed })
            #expect(server[1].hasEnded && !server[1].isReset)
            #expect(stream.recorder.count(.serverChanged) == 1 && stream.recorder.count(.reconnecting) == 0)
            // Not one frame is missing, and none comes twice.
            let times = (server[1].tags + server[2].tags).filter { $0.kind == .video && $0.body[1] == 1 }.map(
                \.timestamp)
            let steps = zip(times, times.dropFirst()).map { Int64($1) - Int64($0) }
            #expect(steps.allSatisfy { (1..<500).contains($0) })
            try stream.stop()
        }
    }

    @Test func aRequestToMoveNowhereChangesNothing() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].isPublishing })
            server.perform(.reconnectRequest(tcURL: "nonsense://"), on: 1)
            #expect(becomesTrue { stream.recorder.count(.serverChangeFailed) == 1 })
            let count = server[1].tags.count
            #expect(becomesTrue { server[1].tags.count > count + 20 })
            #expect(server.connectionCount == 1)
            try stream.stop()
        }
    }

    /// It is kept, silent, until the server can learn of its end.
    @Test func aConnectionWhoseAddressIsGoneIsAbortedWhenTheNextOneStands() throws {
        try time.run {
            let isReachable = Atomic(false)
            let refusal = TransportError.connectFailed(Endpoint(host: "live.example", port: 1935), attempts: [])
            let server = try ScriptedServer { number in
                number == 1 || isReachable.load(ordering: .relaxed) ? .accept() : .unreachable(refusal)
            }
            let links = try ScriptedLinks()
            let stream = try StreamUnderTest(on: server, reconnects: .endless, links: links)
            #expect(becomesTrue { server[1].tags.count > 10 })
            links.happens(.linkDown("eth0")) { content in
                content.hasAddress = false
                content.linksUp = []
            }
            #expect(becomesTrue { stream.recorder.states.last == .reconnecting })
            #expect(becomesTrue { server.connectionCount >= 3 })
            #expect(!server[1].isClosed)
            isReachable.store(true, ordering: .relaxed)
            links.happens(.addressAdded("eth0")) { content in
                content.hasAddress = true
                content.linksUp = ["eth0"]
            }
            #expect(becomesTrue { stream.recorder.states.last == .live && stream.recorder.states.count > 3 })
            #expect(becomesTrue { server[1].isReset })
            try stream.stop()
        }
    }

    @Test func aServerThatWasAwayForMinutesHasTheStreamAtOnce() throws {
        try time.run {
            let isReachable = Atomic(true)
            let refusal = TransportError.connectFailed(Endpoint(host: "live.example", port: 1935), attempts: [])
            let server = try ScriptedServer { _ in
                isReachable.load(ordering: .relaxed) ? .accept() : .unreachable(refusal)
            }
            let stream = try StreamUnderTest(on: server, reconnects: .endless)
            #expect(becomesTrue { server[1].tags.count > 10 })
            isReachable.store(false, ordering: .relaxed)
            server.perform(.close, on: 1)
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(120))
            let (start, next) = (MonotonicClock.now(), server.connectionCount + 1)
            #expect(next > 200)
            isReachable.store(true, ordering: .relaxed)
            #expect(becomesTrue { !server[next].tags.isEmpty })
            #expect(MonotonicClock.now() - start <= .seconds(1))
            // Of now, and not of two minutes ago.
            #expect((120_000...122_000).contains(server[next].tags[0].timestamp))
            try stream.stop()
        }
    }

    @Test func aStopWhileItConnectsTakesNoTime() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unanswered }
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server.connectionCount == 1 })
            let start = MonotonicClock.now()
            stream.commands.send(.stop)
            #expect(try stream.end() == nil)
            #expect(MonotonicClock.now() - start < .seconds(1))
            #expect(stream.recorder.states == [.connecting, .disconnected])
        }
    }

    @Test func aStopIsBoundedWhenTheServerTakesNothing() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server)
            #expect(becomesTrue { server[1].tags.count > 10 })
            server.perform(.stopReading, on: 1)
            let start = MonotonicClock.now()
            stream.commands.send(.stop)
            #expect(try stream.end() == nil)
            #expect(MonotonicClock.now() - start < .seconds(3))
        }
    }

    @Test func theStreamEndsWithItsTime() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, duration: .seconds(1))
            #expect(try stream.end() == nil)
            #expect(becomesTrue { server[1].isClosed })
            // The last frame is the one of that moment; an audio packet is 23 ms long.
            #expect(server[1].tags.last { $0.kind == .video }?.timestamp == 1000)
            #expect(server[1].tags.allSatisfy { $0.timestamp <= 1023 } && !server[1].isReset)
        }
    }

    @Test func aStreamThatFailsToWaitLeavesNothingOpen() throws {
        try time.run {
            let server = try ScriptedServer()
            let camera = CameraInUse()
            let stream = try StreamUnderTest(on: server, video: camera.choice)
            #expect(becomesTrue { server[1].tags.count > 10 })
            time.failWaits(for: stream.commands.wakeup.fileDescriptor)
            #expect(try stream.endError() is SystemCallError)
            #expect(!camera.isOpen)
            #expect(becomesTrue { server[1].isClosed })
        }
    }

    @Test func aStreamWithoutAThreadForAudioLeavesTheCameraClosed() throws {
        time.refuseThreads(named: "audio")
        try time.run {
            let camera = CameraInUse()
            let stream = try StreamUnderTest(on: ScriptedServer(), video: camera.choice)
            #expect(try (stream.endError() as? SystemCallError)?.subject == "thread audio")
            #expect(!camera.isOpen)
        }
    }

    /// A fake camera, and whether it is open.
    private final class CameraInUse: Sendable {
        private let script = Mutex<FakeCamera.Script?>(nil)

        var choice: FakeCameraChoice {
            FakeCameraChoice { [self] wish in
                let script = FakeCamera.Script(
                    layout: FrameLayout(packed: .i420, size: wish.size), frameRate: wish.frameRate, stop: wish.stop)
                self.script.withLock { $0 = script }
                return script
            }
        }

        var isOpen: Bool { script.withLock { $0?.content.withLock { $0.openCount } ?? 0 } > 0 }
    }

    @Test func thoseWhoWatchSeeIt() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, isWatched: true)
            #expect(
                becomesTrue {
                    stream.recorder.snapshots.contains { $0.state == .live && $0.sent.sentFrames > 5 }
                })
            let snapshot = try #require(stream.recorder.snapshots.last)
            #expect(snapshot.size == FrameSize(width: 64, height: 48) && snapshot.encoder?.name == "openh264")
            try stream.stop()
        }
    }

    @Test func cameraAndConnectionOpenAtTheSameTime() throws {
        try time.run {
            let server = try ScriptedServer()
            let start = MonotonicClock.now()
            let camera = FakeCameraChoice.changed { $0.openingTime = .seconds(1) }
            let stream = try StreamUnderTest(on: server, video: camera, connecting: .seconds(1))
            #expect(becomesTrue { server[1].tags.contains { $0.kind == .video && $0.body[1] == 1 } })
            #expect(MonotonicClock.now() - start < .milliseconds(1_500))
            try stream.stop()
        }
    }

    /// Servers close a connection that stays silent.
    @Test func connectionThatWaitedLongForTheCameraIsMadeAgain() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, video: .changed { $0.openingTime = .seconds(5) })
            #expect(becomesTrue { server.connectionCount == 2 && server[2].tags.contains { $0.kind == .video } })
            #expect(server[1].receivedByteCount == 0 && stream.recorder.events("retryAfterHandshake").isEmpty)
            try stream.stop()
        }
    }

    @Test func serverHearsNothingOfAStreamWhoseCameraDoesNotOpen() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, video: .changed { $0.isPluggedIn = false })
            #expect(try stream.end()?.code == .cameraUnavailable)
            #expect(server[1].receivedByteCount == 0 && stream.recorder.states == [.connecting, .error])
        }
    }
}

/// A live stream on its thread.
final class StreamUnderTest {
    let recorder = EventRecorder()
    let commands: Mailbox<PublisherCommand>
    private let ends: Mailbox<(any Error)?>
    private let thread: JoinableThread
    private var hasEnded = false

    init(
        on server: ScriptedServer, to destination: PublishDestination? = PublishDestination(url: testURL),
        card: CardCalls = .onCallingThread, reconnects: ReconnectPolicy.Limit = .attempts(3),
        duration: Duration? = nil, isWatched: Bool = false, links: ScriptedLinks? = nil, cameras: [String] = [],
        video: FakeCameraChoice = .asAsked, preview: RecordedPreview? = nil, listener: (any AudioSink)? = nil,
        controls: [ControlChange] = [], pauseImage: String? = nil, isPaused: Bool = false,
        others: [String: ScriptedServer] = [:], connecting: Duration = .zero,
        archive: (any PacketArchive)? = nil, viewer: (any PacketSink)? = nil, startsAtOnce: Bool = false
    ) throws {
        let (commands, ends) = (try Mailbox<PublisherCommand>(), try Mailbox<(any Error)?>())
        (self.commands, self.ends) = (commands, ends)
        let sink = recorder.sink
        let way =
            others.isEmpty
            ? server.network(links: links)
            : ScriptedServer.network(others.merging([testURL.host: server]) { _, first in first })
        let network = PublisherNetwork(
            connect: { (request) throws(TransportError) in
                MonotonicClock.sleep(until: MonotonicClock.now() + connecting)
                return try way.connect(request)
            }, watchLinks: way.watchLinks)
        let hosts = others.keys.sorted()
        thread = JoinableThread(
            try NamedThread("stream") {
                do {
                    let others = hosts.map { host in
                        PublishDestination(
                            url: RTMPURL(scheme: .rtmp, host: host, application: "live", streamName: "key"),
                            name: String(host.prefix { $0 != "." }))
                    }
                    let destinations = PublishDestinations((destination.map { [$0] } ?? []) + others)
                    var settings = try StreamUnderTest.settings(
                        destinations, reconnects, duration, cameras, preview, listener)
                    settings.card = card
                    if cameras.isEmpty { settings.media.video = video }
                    settings.media.controls = controls
                    (settings.pauseImage, settings.isPaused) = (pauseImage, isPaused)
                    (settings.archive, settings.viewer) = (archive, viewer)
                    settings.startsAtOnce = startsAtOnce
                    let stream = try LiveStream(
                        settings: settings,
                        commands: commands, network: network,
                        isWatched: isWatched, reporter: sink)
                    try stream.run()
                    ends.send(nil)
                } catch {
                    ends.send(error)
                }
            })
    }

    deinit {
        commands.send(.stop)
        thread.join()
    }

    private static func settings(
        _ destinations: PublishDestinations, _ reconnects: ReconnectPolicy.Limit, _ duration: Duration?,
        _ cameras: [String], _ preview: RecordedPreview?, _ listener: (any AudioSink)?
    ) throws -> PublishSettings {
        var media = MediaSettings(
            video: FakeCameraChoice.asAsked, audio: AudioSourceDescription.tone, quality: .medium1,
            audioQuality: .standard,
            dimension: try VideoDimension(FrameSize(width: 64, height: 48)), encoder: FakeEncoderChoice.software,
            duration: duration)
        media.cameras = cameras.map { NamedCamera(name: $0, choice: FakeCameraChoice.asAsked) }
        media.preview = preview
        media.audioSinks = listener.map { [$0] } ?? []
        return PublishSettings(
            destinations: destinations, media: media,
            quality: QualitySettings(videoQuality: .medium1, audioQuality: .standard), statusInterval: .seconds(1),
            reconnectLimit: reconnects)
    }

    /// Waits for the end.
    /// - Returns: its failure.
    func end() throws -> StreamFailure? {
        guard let error = try endError() else { return nil }
        return try #require(error as? StreamFailure)
    }

    /// As `end`, for an error that does not come from the stream.
    func endError() throws -> (any Error)? {
        var ended: [(any Error)?] = []
        let isOver = becomesTrue(within: .seconds(20)) {
            ended += ends.takeAll()
            return !ended.isEmpty
        }
        try #require(isOver)
        return ended[0]
    }

    /// A stop in order.
    func stop() throws {
        commands.send(.stop)
        #expect(try end() == nil)
    }
}

extension CommandOutcome {
    var lines: [String] { if case .done(let lines) = self { lines } else { [] } }
}
