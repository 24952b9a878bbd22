import DevicePorts
import Media
import StreamQuality
import Synchronization

/// What the main thread wants of the encoders. Each encoder's thread takes its part before its next picture or sound.
final class EncoderControl: Sendable {
    /// What the video thread does before its next picture, in this order.
    struct VideoOrders: Sendable {
        /// A new encoder, for a stream that begins again.
        var replacement: VideoEncoderConfiguration?
        var setting: (bitrate: Bitrate, frameRate: FrameRate)?
        var isKeyFrameWanted = false
    }

    private struct Orders {
        var video = VideoOrders()
        var audioBitrate: Bitrate?
        var isMuted = false
    }

    private let orders = Mutex(Orders())

    /// Any thread.
    func requestKeyFrame() { orders.withLock { $0.video.isKeyFrameWanted = true } }

    /// All of a transaction at once: neither thread sees half of it.
    func perform(_ actions: [QualityAction]) {
        orders.withLock { orders in
            for action in actions {
                switch action {
                case .setVideo(let bitrate, let frameRate): orders.video.setting = (bitrate, frameRate)
                case .setAudio(let quality): orders.audioBitrate = quality.bitrate
                case .requestKeyFrame: orders.video.isKeyFrameWanted = true
                case .discardWaitingVideo, .restartStream, .reportChange: break
                }
            }
        }
    }

    /// Pictures go to a new encoder from now on; what was ordered from the old one is void.
    func replaceVideoEncoder(_ configuration: VideoEncoderConfiguration) {
        orders.withLock { $0.video = VideoOrders(replacement: configuration) }
    }

    func setAudioBitrate(_ bitrate: Bitrate) { orders.withLock { $0.audioBitrate = bitrate } }

    /// While muted, sound goes out as silence: the track stays.
    func setMuted(_ isMuted: Bool) { orders.withLock { $0.isMuted = isMuted } }

    var isMuted: Bool { orders.withLock { $0.isMuted } }

    func takeVideoOrders() -> VideoOrders {
        orders.withLock { orders in
            defer { orders.video = VideoOrders() }
            return orders.video
        }
    }

    func takeAudioBitrate() -> Bitrate? {
        orders.withLock { orders in
            defer { orders.audioBitrate = nil }
            return orders.audioBitrate
        }
    }
}
