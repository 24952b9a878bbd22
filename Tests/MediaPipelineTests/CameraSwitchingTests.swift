import DevicePorts
import Filters
import FrameFiltering
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Testing

@testable import Encoding
@testable import MediaPipeline
@testable import VideoCapture

/// Two cameras with different frames in one stream, from opening to encoding, with scripted hardware for each.
@Suite(.serialized) struct CameraSwitchingTests {
    private let time = VirtualTime()

    private static let size = FrameSize(width: 240, height: 144)
    /// The device's own memory, read in place.
    private static let frontLayout = FrameLayout(packed: .nv12, size: size)
    /// Another shape, in ordinary memory: scaled, with bars.
    private static let backLayout = FrameLayout(packed: .i420, size: FrameSize(width: 160, height: 120))

    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let control = EncoderRequests()
    private let reports: Mailbox<TrackEvent>
    private let stop: EventFD
    private let front: FakeCamera.Script
    private let back: FakeCamera.Script
    private let hardware = CameraHardware()

    init() throws {
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: .zero)
        reports = try Mailbox()
        stop = try EventFD()
        front = FakeCamera.Script(layout: Self.frontLayout, memory: .dmabuf, stop: stop)
        back = FakeCamera.Script(
            layout: Self.backLayout, frameRate: FrameRate(framesPerSecond: 15), memory: .ordinary, stop: stop)
    }

    // MARK: The stream

    private func tracks(
        _ encoder: (any VideoEncoderChoice)? = nil, mayResize: Bool = false, front: FakeCamera.Script? = nil,
        filters: LoadedFilters = LoadedFilters()
    ) throws -> MediaTracks {
        let (front, back) = (front ?? self.front, back)
        let cameras = [
            NamedCamera(name: "front", choice: FakeCameraChoice { _ in front }),
            NamedCamera(name: "back", choice: FakeCameraChoice { _ in back }),
        ]
        var settings = MediaSettings(
            video: cameras[0].choice, audio: AudioSourceDescription.none, quality: .medium1, audioQuality: .standard,
            dimension: try VideoDimension(Self.size), encoder: encoder ?? hardware.choice)
        settings.cameras = cameras
        settings.mayResize = mayResize
        settings.filters = filters
        let quality = QualitySettings(videoQuality: .medium1, audioQuality: nil)
        let point = QualityController(settings: quality, now: .zero).operatingPoint
        return try MediaTracks(
            settings: &settings, point: point, maximum: Bitrate(kilobitsPerSecond: 512),
            context: StreamContext(
                hub: hub, counters: counters, requests: control, reports: reports, stop: stop,
                reporter: EventSink { _ in }))
    }

    /// Waits while the sender takes packets.
    private func wait(_ frames: SentFrames, until condition: () -> Bool) throws {
        let end = MonotonicClock.now() + .seconds(20)
        while !condition() {
            try #require(MonotonicClock.now() < end)
            frames.take(from: queue, reports)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
        }
    }

    private func switched(_ frames: SentFrames, to name: String) throws {
        control.selectCamera(name)
        let before = frames.switches.count
        try wait(frames) { frames.switches.count > before }
        #expect(frames.switches.last == name)
        let count = frames.all.count
        try wait(frames) { frames.all.count >= count + 12 }
    }

    private func end(_ tracks: MediaTracks, _ frames: SentFrames) {
        stop.signal()
        tracks.join()
        frames.take(from: queue, reports)
    }

    /// Frames that were still inside an encoder when the next camera's first frame came out.
    private var leftOutFrames: Int { counters.snapshot.capturedFrames - counters.snapshot.encodedFrames }

    // MARK: Tests

    @Test func eachCameraHasItsOwnEncoder() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            try switched(frames, to: "back")
            try switched(frames, to: "front")
            end(tracks, frames)
            #expect(hardware.openings.map(\.layout.size) == [Self.size, Self.size, Self.size])
            #expect(hardware.openings.map(\.memory) == [.dmabuf, .pooled, .dmabuf])
            #expect(hardware.hasOnlyTheSize && frames.rise)
            // The first frame of each encoder.
            #expect(frames.all.filter(\.isKeyframe).count == 3)
            #expect(leftOutFrames <= frames.switches.count)
            #expect(frames.longestGap <= .milliseconds(140))
            #expect(frames.notes == [])
        }
    }

    /// A filter without effect leaves packed frames alone. The encoder opens once in either case.
    @Test(arguments: [("smooth", true), ("smooth,strength=0", false)])
    func packedFramesAreUnpackedForFilters(filter: String, areUnpacked: Bool) throws {
        try time.run {
            let packed = FakeCamera.Script(
                layout: FrameLayout(packed: .yuyv, size: Self.size), memory: .dmabuf, stop: stop)
            let filters = try LoadedFilters(FilterChain(parsing: [filter]))
            let (tracks, frames) = (try tracks(front: packed, filters: filters), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            end(tracks, frames)
            #expect(hardware.openings.count == 1)
            #expect((counters.snapshot.videoSource.rotatedFrames > 0) == areUnpacked)
        }
    }

    /// The present camera's frames continue while the next encoder opens.
    @Test func slowlyOpeningEncoderCausesNoGap() throws {
        try time.run {
            hardware.script.withLock { $0.openingTime = .seconds(1) }
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            try switched(frames, to: "back")
            end(tracks, frames)
            #expect(frames.longestGap <= .milliseconds(140) && hardware.hasOnlyTheSize)
            #expect(leftOutFrames <= frames.switches.count)
        }
    }

    @Test func encodersFollowEachOtherIfMemoryAllowsOnlyOne() throws {
        try time.run {
            hardware.script.withLock { $0.allowsTwo = false }
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            try switched(frames, to: "back")
            try switched(frames, to: "front")
            end(tracks, frames)
            #expect(frames.rise && frames.longestGap <= .milliseconds(300) && hardware.hasOnlyTheSize)
            #expect(hardware.mostAtOnce == 1)
        }
    }

    @Test func firstCameraStaysLiveIfTheNextEncoderDoesNotOpen() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            hardware.script.withLock { $0.refuses = true }
            control.selectCamera("back")
            try wait(frames) { frames.failures.count == 1 }
            hardware.script.withLock { $0.refuses = false }
            let count = frames.all.count
            try wait(frames) { frames.all.count >= count + 12 }
            end(tracks, frames)
            #expect(frames.failures.allSatisfy { $0.hasPrefix("back: Refused") } && frames.switches == [])
            #expect(frames.longestGap <= .milliseconds(40))
        }
    }

    @Test func softwareEncodesEachCamerasFrames() throws {
        try time.run {
            let software = FakeEncoderChoice(mayUseSoftware: true) { configuration, needs in
                try SoftwareVideoEncoder(configuration, needs) { try OpenH264Encoder(configuration: $0) }
            }
            let (tracks, frames) = (try tracks(software), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            try switched(frames, to: "back")
            try switched(frames, to: "front")
            end(tracks, frames)
            #expect(frames.rise && frames.startsWithKeyframes)
        }
    }

    // MARK: During other changes

    @Test func frameSizeChangesDuringASwitch() throws {
        try time.run {
            hardware.script.withLock { $0.openingTime = .milliseconds(500) }
            let (tracks, frames) = (try tracks(mayResize: true), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            control.selectCamera("back")
            try wait(frames) { hardware.openings.count == 2 }
            var configuration = try #require(tracks.videoConfiguration)
            configuration.size = FrameSize(width: 160, height: 96)
            control.perform([], resize: configuration)
            try wait(frames) { frames.switches == ["back"] }
            try wait(frames) { hardware.openings.last.map { $0.size == configuration.size && $0.inputs > 12 } ?? false }
            end(tracks, frames)
            #expect(hardware.hasOnlyTheSize && frames.rise)
            #expect(leftOutFrames <= frames.switches.count)
        }
    }

    /// As during a change of tiers, when another encoder replaces the present one.
    @Test func encoderIsReplacedDuringASwitch() throws {
        try time.run {
            hardware.script.withLock { $0.openingTime = .milliseconds(500) }
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            control.selectCamera("back")
            try wait(frames) { hardware.openings.count == 2 }
            control.perform([], replacement: try #require(tracks.videoConfiguration))
            try wait(frames) { frames.switches == ["back"] }
            let count = frames.all.count
            try wait(frames) { frames.all.count >= count + 12 }
            end(tracks, frames)
            #expect(hardware.hasOnlyTheSize && frames.rise)
        }
    }

    /// Software continues while the hardware is away and encodes the next camera's frames.
    @Test func hardwareFailsDuringASwitch() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { frames.all.count >= 12 }
            hardware.script.withLock { $0.openingTime = .milliseconds(500) }
            control.selectCamera("back")
            try wait(frames) { hardware.openings.count == 2 }
            hardware.fail(opening: 0)
            try wait(frames) { frames.switches == ["back"] }
            let count = frames.all.count
            try wait(frames) { frames.all.count >= count + 12 }
            end(tracks, frames)
            #expect(hardware.hasOnlyTheSize && frames.rise)
        }
    }

    @Test func twoHundredSwitchesLeaveOneEncoderAndOneCamera() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), SentFrames())
            tracks.start(from: .zero, until: nil)
            for number in 1...200 {
                control.selectCamera(number % 2 == 1 ? "back" : "front")
                try wait(frames) { frames.switches.count == number }
            }
            try wait(frames) { hardware.openNow == 1 }
            try wait(frames) { [front, back].map { $0.content.withLock { $0.openCount } } == [1, 0] }
            end(tracks, frames)
            #expect(frames.rise && frames.failures == [])
            #expect(frames.longestGap <= .milliseconds(300))
            #expect(leftOutFrames <= frames.switches.count)
            #expect(hardware.openings.count == 201)
        }
    }
}

/// The frames that the sender took, and the reports meanwhile.
private final class SentFrames {
    private(set) var all: [(isKeyframe: Bool, time: MediaTimestamp)] = []
    private(set) var switches: [String] = []
    private(set) var failures: [String] = []
    private(set) var notes: [String] = []
    /// The number of frames at the time of each switch's report.
    private(set) var countsAtSwitches: [Int] = []

    func take(from queue: SinkBuffer, _ reports: Mailbox<TrackEvent>) {
        while let packet = queue.take() {
            if case .video(let isKeyframe) = packet.kind { all.append((isKeyframe, packet.decodeTime)) }
        }
        for report in reports.takeAll() {
            switch report {
            case .encoder(.cameraSwitched(let name, _)):
                switches.append(name)
                countsAtSwitches.append(all.count)
            case .video(.cameraSwitchFailed(let name, let reason)): failures.append("\(name): \(reason)")
            case .encoder(.note(let note)): notes.append(note)
            default: break
            }
        }
    }

    var rise: Bool { zip(all, all.dropFirst()).allSatisfy { $0.time < $1.time } }
    var longestGap: Duration { zip(all, all.dropFirst()).map { $1.time - $0.time }.max() ?? .zero }

    /// A switch is reported with its first frame, which has just been taken.
    var startsWithKeyframes: Bool {
        countsAtSwitches.allSatisfy { count in
            all[max(0, count - 2)..<min(all.count, count + 1)].contains { $0.isKeyframe }
        }
    }
}

/// Scripted hardware, new for each opening.
private final class CameraHardware: Sendable {
    struct Opening: Sendable {
        let size: FrameSize
        let layout: FrameLayout
        let memory: FrameMemoryKind
        let script: ScriptedEncoder.Script

        var inputs: Int { script.content.withLock { $0.inputs } }
        var isOpen: Bool { script.content.withLock { !$0.isClosed } }
    }

    struct Script: Sendable {
        var openingTime = Duration.zero
        /// Whether two encoders may be open at once.
        var allowsTwo = true
        var refuses = false
    }

    struct NoMemory: EncoderFailure {
        let isLackOfMemory = true
        let isRefusalOfSize = false
        let mayPassByItself = false
        let mayBeDeadFirmware = false
    }

    struct Refused: EncoderFailure {
        let isLackOfMemory = false
        let isRefusalOfSize = false
        let mayPassByItself = false
        let mayBeDeadFirmware = false
    }

    private let node = unusedNode()
    let script = Mutex(Script())
    private let opened = Mutex<[Opening]>([])
    private let most = Mutex(0)

    var openings: [Opening] { opened.withLock { $0 } }
    var openNow: Int { openings.count { $0.isOpen } }
    var mostAtOnce: Int { most.withLock { $0 } }

    /// Every frame had the encoder's size.
    var hasOnlyTheSize: Bool {
        openings.allSatisfy { opening in opening.script.content.withLock { $0.sizes }.isSubset(of: [opening.size]) }
    }

    func fail(opening index: Int) {
        openings[index].script.content.withLock { $0.failsAt = $0.inputs + 1 }
    }

    private func open(
        _ configuration: VideoEncoderConfiguration, _ layout: FrameLayout, _ memory: FrameMemoryKind
    ) throws -> any PolledVideoEncoder {
        let script = script.withLock { $0 }
        if script.refuses { throw Refused() }
        if !script.allowsTwo, openNow > 0 { throw NoMemory() }
        let ofThis = try ScriptedEncoder.Script()
        opened.withLock {
            $0.append(Opening(size: configuration.size, layout: layout, memory: memory, script: ofThis))
        }
        let now = openNow
        most.withLock { $0 = max($0, now) }
        MonotonicClock.sleep(until: MonotonicClock.now() + script.openingTime)
        return ScriptedEncoder(ofThis)
    }

    var choice: FakeEncoderChoice {
        FakeEncoderChoice(mayUseSoftware: false) { [self] configuration, needs in
            try FallbackEncoder(path: node, configuration: configuration, needs: needs, opening: .now) {
                [self] configuration, layout, memory, _ in try open(configuration, layout, memory)
            }
        }
    }
}
