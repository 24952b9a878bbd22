import DevicePorts
import Media
import StreamQuality
import Synchronization

/// What the main thread wants of the encoders. Each encoder's thread takes its part before its next picture or sound.
public final class EncoderControl: Sendable {
    /// What the video thread does before its next picture, in this order.
    struct VideoOrders: Sendable {
        /// A new encoder, for a stream that begins again.
        var replacement: VideoEncoderConfiguration?
        /// The pause of `MediaQueue` in which the stream waits for it.
        var pause: Int?
        var setting: (bitrate: Bitrate, frameRate: FrameRate)?
        var isKeyFrameWanted = false
    }

    /// What the audio thread does from a time on.
    fileprivate struct AudioOrders {
        var bitrate: Bitrate?
        var isMuted: Bool?
        /// `nil` until the picture is known that it belongs to.
        var time: MediaTimestamp?
    }

    fileprivate struct Orders {
        var video = VideoOrders()
        var audioBitrate: Bitrate?
        var isMuted = false
        /// Another sample rate, for a stream that begins again; and the pause of `MediaQueue`.
        var audioReplacement: (quality: AudioQuality, pause: Int)?
        /// The audio part of a transaction: it counts from the time of the key frame that the picture's part makes.
        var transaction: AudioOrders?
    }

    private let orders = Mutex(Orders())

    public init() {}

    /// Any thread.
    public func requestKeyFrame() { orders.withLock { $0.video.isKeyFrameWanted = true } }

    /// What belongs together takes effect together: neither thread sees half of it.
    /// - Parameters:
    ///   - isMuted: `nil` to leave it.
    ///   - replacement: a new encoder, with which it begins.
    public func perform(
        _ actions: [QualityAction], isMuted: Bool? = nil, replacement: VideoEncoderConfiguration? = nil
    ) {
        orders.withLock { orders in
            // The stream may still wait for the one that this one comes in place of.
            if let replacement { orders.video = VideoOrders(replacement: replacement, pause: orders.video.pause) }
            var audio = AudioOrders(isMuted: isMuted)
            var beginsAtKeyFrame = false
            for action in actions {
                switch action {
                case .setVideo(let bitrate, let frameRate): orders.video.setting = (bitrate, frameRate)
                case .setAudio(let quality): audio.bitrate = quality.bitrate
                case .requestKeyFrame:
                    orders.video.isKeyFrameWanted = true
                    beginsAtKeyFrame = true
                case .discardWaitingVideo, .restartStream, .reportChange: break
                }
            }
            guard audio.bitrate != nil || audio.isMuted != nil else { return }
            if let earlier = orders.transaction { orders.take(earlier) }
            orders.transaction = beginsAtKeyFrame ? audio : nil
            if !beginsAtKeyFrame { orders.take(audio) }
        }
    }

    /// For a stream that ends to begin again: others take the encoders' places from now on.
    /// - Parameters:
    ///   - video: a new encoder for pictures; `nil` keeps the present one. What was ordered from that is void.
    ///   - audio: what sound is encoded with; with `replacesAudio` it is captured anew, too.
    ///   - pause: ends the stream where pictures and sounds wait, and gives the pause's number. It is done before
    ///     anything is ordered: what the encoders' threads answer must not come before it is waited for.
    public func replaceEncoders(
        video: VideoEncoderConfiguration?, audio: AudioQuality?, replacesAudio: Bool, after pause: () -> Int
    ) {
        let pause = pause()
        if let video { orders.withLock { $0.video = VideoOrders(replacement: video, pause: pause) } }
        guard let audio else { return }
        guard replacesAudio else { return perform([.setAudio(audio)]) }
        orders.withLock { $0.audioReplacement = (audio, pause) }
    }

    /// While muted, sound goes out as silence: the track stays.
    public func setMuted(_ isMuted: Bool) { orders.withLock { $0.isMuted = isMuted } }

    var isMuted: Bool { orders.withLock { $0.isMuted } }

    /// - Parameter time: when the picture was taken that comes next.
    func takeVideoOrders(at time: MediaTimestamp) -> VideoOrders {
        orders.withLock { orders in
            defer { orders.video = VideoOrders() }
            if orders.transaction?.time == nil { orders.transaction?.time = time }
            return orders.video
        }
    }

    func takeAudioReplacement() -> (quality: AudioQuality, pause: Int)? {
        orders.withLock { orders in
            defer { orders.audioReplacement = nil }
            return orders.audioReplacement
        }
    }

    /// - Parameter time: when the sound began that comes next.
    func takeAudioOrders(at time: MediaTimestamp) -> (bitrate: Bitrate?, isMuted: Bool) {
        orders.withLock { orders in
            if let transaction = orders.transaction, let begin = transaction.time, time >= begin {
                orders.take(transaction)
                orders.transaction = nil
            }
            defer { orders.audioBitrate = nil }
            return (orders.audioBitrate, orders.isMuted)
        }
    }
}

extension EncoderControl.Orders {
    fileprivate mutating func take(_ audio: EncoderControl.AudioOrders) {
        audioBitrate = audio.bitrate ?? audioBitrate
        isMuted = audio.isMuted ?? isMuted
    }
}
