import DevicePorts
import LinuxIO
import Media
import PipelineSupport
import StreamQuality
import Testing

@testable import Encoding
@testable import MediaPipeline

/// A stream that ends to start again with other encoders, and encoders' threads that answer as early as they can. The
/// test does what those threads do; what is early or late is the order of its lines.
final class EncoderReplacementTests {
    private let control = EncoderRequests()
    private let hub: PacketHub
    private let queue: SinkBuffer
    private let start = MonotonicClock.now()
    /// That the encoders of now were made for.
    private var epochs = (video: PacketHub.firstEpoch, audio: PacketHub.firstEpoch)
    private let video = VideoEncoderConfiguration(
        size: FrameSize(width: 640, height: 352), frameRate: FrameRate(framesPerSecond: 30),
        bitrate: Bitrate(kilobitsPerSecond: 800),
        profile: .high, level: .level3_1, keyframeInterval: 60)

    init() throws {
        let media = try HubWithTarget(tracks: 2)
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: start)
        append(video: 1)
        append(audio: 1)
        takeAll()
    }

    @discardableResult
    private func takeAll() -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let packet = queue.take() { packets.append(packet) }
        return packets
    }

    /// A header and a keyframe, as an encoder gives them first.
    private func append(video encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.videoHeader, .video(isKeyframe: true)]
        hub.append(kinds.map { EncodedPacket(kind: $0, decodeTime: start, payload: [encoder]) }, epoch: epochs.video)
    }

    private func append(audio encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.audioHeader, .audio]
        hub.append(kinds.map { EncodedPacket(kind: $0, decodeTime: start, payload: [encoder]) }, epoch: epochs.audio)
    }

    /// As the video thread does before a frame, with a new encoder that takes no time at all.
    private func applyVideoRequests() {
        let orders = control.takeVideoRequests(at: start)
        if orders.replacement != nil { epochs.video = orders.epoch ?? epochs.video }
    }

    /// As the audio thread does before a block of samples.
    private func applyAudioRequests() {
        if let replacement = control.takeAudioReplacement() { epochs.audio = replacement.epoch }
    }

    /// What the next connection carries.
    private func kindsAndEncoders(from encoder: UInt8 = 2) -> Set<String> {
        hub.restart(queue)
        append(video: encoder)
        append(audio: encoder)
        return Set(takeAll().map { "\($0.kind) \($0.payload)" })
    }

    @Test func encodersThatAnswerAtOnceAreHeardInTheNextStream() {
        // The threads come by at the earliest moment there is.
        applyVideoRequests()
        applyAudioRequests()
        let epoch = hub.epochStarts(replacesVideo: true, replacesAudio: true)
        applyVideoRequests()
        applyAudioRequests()
        control.replaceEncoders(video: video, audio: .standard, replacesAudio: true, epoch: epoch)
        applyVideoRequests()
        applyAudioRequests()
        #expect(
            kindsAndEncoders() == [
                "videoHeader [2]", "video(isKeyframe: true) [2]", "audioHeader [2]", "audio [2]",
            ])
        #expect(hub.refusedFrameCount + queue.refusedFrameCount == 0)
    }

    @Test func whatTheOldEncodersStillGiveIsNotOfTheNextStream() {
        restart(video: video, audio: .standard, replacesAudio: true)
        hub.restart(queue)
        append(video: 1)
        append(audio: 1)
        #expect(takeAll().isEmpty && hub.headers.isEmpty && hub.refusedFrameCount == 1)
        applyVideoRequests()
        applyAudioRequests()
        #expect(kindsAndEncoders().allSatisfy { $0.hasSuffix("[2]") })
    }

    private func restart(video: VideoEncoderConfiguration?, audio: AudioQuality, replacesAudio: Bool) {
        control.replaceEncoders(
            video: video, audio: audio, replacesAudio: replacesAudio,
            epoch: hub.epochStarts(replacesVideo: video != nil, replacesAudio: replacesAudio))
    }

    /// The encoder before lets itself be closed slowly, and meanwhile somebody wants yet another profile.
    @Test func encodersThatComeWhenOthersAreWantedAreNotOfTheNextStream() throws {
        restart(video: video, audio: .standard, replacesAudio: true)
        let slowVideo = control.takeVideoRequests(at: start)
        let slowAudio = try #require(control.takeAudioReplacement())
        restart(video: video, audio: .standard, replacesAudio: true)
        epochs = (try #require(slowVideo.epoch), slowAudio.epoch)
        #expect(kindsAndEncoders(from: 1).isEmpty && hub.headers.isEmpty)
        applyVideoRequests()
        applyAudioRequests()
        #expect(kindsAndEncoders().count == 4)
    }

    @Test func anEncoderThatIsStillOnItsWayIsWaitedForThroughOtherChanges() throws {
        restart(video: video, audio: .standard, replacesAudio: true)
        let slowAudio = try #require(control.takeAudioReplacement())
        // Another bit rate needs no other audio; and one more change within the stream takes the video's order over.
        restart(video: video, audio: .standard, replacesAudio: false)
        control.perform([], replacement: video)
        #expect(kindsAndEncoders(from: 1).isEmpty)
        epochs.audio = slowAudio.epoch
        applyVideoRequests()
        #expect(kindsAndEncoders().count == 4)
    }

    @Test func encodersThatStayAreNotWaitedFor() {
        restart(video: nil, audio: .standard, replacesAudio: false)
        #expect(control.takeVideoRequests(at: start).replacement == nil && control.takeAudioReplacement() == nil)
        #expect(control.takeAudioRequests(at: start).bitrate == AudioQuality.standard.bitrate)
        #expect(kindsAndEncoders(from: 1).count == 4 && hub.refusedFrameCount == 0)
    }
}
