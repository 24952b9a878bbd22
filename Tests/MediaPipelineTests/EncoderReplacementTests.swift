import DevicePorts
import LinuxIO
import Media
import StreamQuality
import Testing

@testable import MediaPipeline

/// A stream that ends to begin again with other encoders, and encoders' threads that answer as early as they can. The
/// test does what those threads do; what is early or late is the order of its lines.
struct EncoderReplacementTests {
    private let control = EncoderControl()
    private let queue: MediaQueue
    private let begin = MonotonicClock.now()
    private let video = VideoEncoderConfiguration(
        size: PictureSize(width: 640, height: 352), frameRate: FrameRate(framesPerSecond: 30),
        bitrate: Bitrate(kilobitsPerSecond: 800),
        profile: .high, level: .level3_1, keyFrameInterval: 60)

    init() throws {
        queue = try MediaQueue(limits: .standard, tracks: 2, hasVideo: true)
        queue.mediaBegan(at: begin)
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

    /// A header and a key frame, as an encoder gives them first.
    private func append(video encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.videoHeader, .video(isKeyFrame: true)]
        _ = queue.append(kinds.map { EncodedPacket(kind: $0, decodeTime: begin, payload: [encoder]) })
    }

    private func append(audio encoder: UInt8) {
        let kinds: [EncodedPacket.Kind] = [.audioHeader, .audio]
        _ = queue.append(kinds.map { EncodedPacket(kind: $0, decodeTime: begin, payload: [encoder]) })
    }

    /// As the video thread does before a picture, with a new encoder that takes no time at all.
    private func obeyVideoOrders() {
        let orders = control.takeVideoOrders(at: begin)
        if orders.replacement != nil { queue.videoEncoderReplaced(of: orders.pause) }
    }

    /// As the audio thread does before a sound.
    private func obeyAudioOrders() {
        if let replacement = control.takeAudioReplacement() { queue.audioEncoderReplaced(of: replacement.pause) }
    }

    /// What the next connection carries.
    private func kindsAndEncoders(from encoder: UInt8 = 2) -> Set<String> {
        _ = queue.connectionOpened()
        append(video: encoder)
        append(audio: encoder)
        return Set(takeAll().map { "\($0.kind) \($0.payload)" })
    }

    @Test func encodersThatAnswerAtOnceAreHeardInTheNextStream() {
        control.replaceEncoders(video: video, audio: .standard, replacesAudio: true) {
            // The threads come by at the earliest moment there is.
            obeyVideoOrders()
            obeyAudioOrders()
            let pause = queue.paused(replacesVideoEncoder: true, replacesAudioEncoder: true)
            obeyVideoOrders()
            obeyAudioOrders()
            return pause
        }
        obeyVideoOrders()
        obeyAudioOrders()
        #expect(
            kindsAndEncoders() == [
                "videoHeader [2]", "video(isKeyFrame: true) [2]", "audioHeader [2]", "audio [2]",
            ])
        #expect(queue.refusedPictureCount == 0)
    }

    @Test func whatTheOldEncodersStillGiveIsNotOfTheNextStream() {
        control.replaceEncoders(video: video, audio: .standard, replacesAudio: true) {
            queue.paused(replacesVideoEncoder: true, replacesAudioEncoder: true)
        }
        _ = queue.connectionOpened()
        append(video: 1)
        append(audio: 1)
        #expect(takeAll().isEmpty && queue.headers.isEmpty && queue.refusedPictureCount == 1)
        obeyVideoOrders()
        obeyAudioOrders()
        #expect(kindsAndEncoders().allSatisfy { $0.hasSuffix("[2]") })
    }

    private func restart(video: VideoEncoderConfiguration?, audio: AudioQuality, replacesAudio: Bool) {
        control.replaceEncoders(video: video, audio: audio, replacesAudio: replacesAudio) {
            queue.paused(replacesVideoEncoder: video != nil, replacesAudioEncoder: replacesAudio)
        }
    }

    /// The encoder before lets itself be closed slowly, and meanwhile somebody wants yet another profile.
    @Test func encodersThatComeWhenOthersAreWantedAreNotOfTheNextStream() throws {
        restart(video: video, audio: .standard, replacesAudio: true)
        let slowVideo = control.takeVideoOrders(at: begin)
        let slowAudio = try #require(control.takeAudioReplacement())
        restart(video: video, audio: .standard, replacesAudio: true)
        queue.videoEncoderReplaced(of: slowVideo.pause)
        queue.audioEncoderReplaced(of: slowAudio.pause)
        #expect(kindsAndEncoders(from: 1).isEmpty && queue.headers.isEmpty)
        obeyVideoOrders()
        obeyAudioOrders()
        #expect(kindsAndEncoders().count == 4)
    }

    @Test func anEncoderThatIsStillOnItsWayIsWaitedForThroughOtherChanges() throws {
        restart(video: video, audio: .standard, replacesAudio: true)
        let slowAudio = try #require(control.takeAudioReplacement())
        // Another bit rate needs no other sound; and one more change within the stream takes the picture's order over.
        restart(video: video, audio: .standard, replacesAudio: false)
        control.perform([], replacement: video)
        #expect(kindsAndEncoders(from: 1).isEmpty)
        queue.audioEncoderReplaced(of: slowAudio.pause)
        obeyVideoOrders()
        #expect(kindsAndEncoders().count == 4)
    }

    @Test func encodersThatStayAreNotWaitedFor() {
        control.replaceEncoders(video: nil, audio: .standard, replacesAudio: false) {
            queue.paused(replacesVideoEncoder: false, replacesAudioEncoder: false)
        }
        #expect(control.takeVideoOrders(at: begin).replacement == nil && control.takeAudioReplacement() == nil)
        #expect(control.takeAudioOrders(at: begin).bitrate == AudioQuality.standard.bitrate)
        #expect(kindsAndEncoders(from: 1).count == 4 && queue.refusedPictureCount == 0)
    }
}
