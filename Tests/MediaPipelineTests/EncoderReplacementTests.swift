import DevicePorts
import LinuxIO
import Media
import PipelineSupport
import StreamQuality
import Testing

@testable import Encoding
@testable import MediaPipeline

/// A stream that ends in order to restart with other encoders, whose threads answer as early as possible. The test does these
/// threads' work; the order of its lines decides what is early or late.
final class EncoderReplacementTests {
    private let control = EncoderRequests()
    private let hub: PacketHub
    private let queue: SinkBuffer
    private let start = MonotonicClock.now()
    /// The epochs that the present encoders were created for.
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

    /// Appends a header and a keyframe, the first output of an encoder.
    private func append(video encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.videoHeader, .video(isKeyframe: true)]
        hub.append(kinds.map { EncodedPacket(kind: $0, decodeTime: start, payload: [encoder]) }, epoch: epochs.video)
    }

    private func append(audio encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.audioHeader, .audio]
        hub.append(kinds.map { EncodedPacket(kind: $0, decodeTime: start, payload: [encoder]) }, epoch: epochs.audio)
    }

    /// Does the video thread's work before a frame, with a new encoder that opens instantly.
    private func applyVideoRequests() {
        let orders = control.takeVideoRequests(at: start)
        if orders.replacement != nil { epochs.video = orders.epoch ?? epochs.video }
    }

    /// Does the audio thread's work before a block of samples.
    private func applyAudioRequests() {
        if let replacement = control.takeAudioReplacement() { epochs.audio = replacement.epoch }
    }

    /// The contents of the next connection.
    private func kindsAndEncoders(from encoder: UInt8 = 2) -> Set<String> {
        hub.restart(queue)
        append(video: encoder)
        append(audio: encoder)
        return Set(takeAll().map { "\($0.kind) \($0.payload)" })
    }

    @Test func encodersThatAnswerAtOnceBelongToTheNextStream() {
        // The threads run at the earliest possible moment.
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

    @Test func lateOutputOfOldEncodersIsNotPartOfTheNextStream() {
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

    /// The previous encoder closes slowly, and meanwhile yet another profile is requested.
    @Test func supersededEncodersAreNotPartOfTheNextStream() throws {
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

    @Test func pendingEncoderIsAwaitedAcrossOtherChanges() throws {
        restart(video: video, audio: .standard, replacesAudio: true)
        let slowAudio = try #require(control.takeAudioReplacement())
        // Another bit rate needs no other audio encoder. A further change within the stream takes over the video request.
        restart(video: video, audio: .standard, replacesAudio: false)
        control.perform([], replacement: video)
        #expect(kindsAndEncoders(from: 1).isEmpty)
        epochs.audio = slowAudio.epoch
        applyVideoRequests()
        #expect(kindsAndEncoders().count == 4)
    }

    @Test func unchangedEncodersAreNotAwaited() {
        restart(video: nil, audio: .standard, replacesAudio: false)
        #expect(control.takeVideoRequests(at: start).replacement == nil && control.takeAudioReplacement() == nil)
        #expect(control.takeAudioRequests(at: start).bitrate == AudioQuality.standard.bitrate)
        #expect(kindsAndEncoders(from: 1).count == 4 && hub.refusedFrameCount == 0)
    }
}
