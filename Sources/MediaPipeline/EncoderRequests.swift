import Controls
import DevicePorts
import FrameFiltering
import LinuxIO
import Media
import StreamLogic
import StreamQuality
import Synchronization
import VideoCapture

/// Requests from the thread `stream` to the encoders. Each encoder's thread takes its part before the next frame or block of
/// samples.
public final class EncoderRequests: Sendable {
    struct VideoSetting: Sendable {
        let bitrate: Bitrate
        let frameRate: FrameRate
        let stretchesKeyframes: Bool
    }

    /// Requests that the video thread handles before its next frame, in this order.
    struct VideoRequests: Sendable {
        /// A new encoder, for a restarting stream.
        var replacement: VideoEncoderConfiguration?
        /// The hub's epoch that it is for; `nil` for the present one.
        var epoch: Int?
        /// The largest size of the restarting stream.
        var dimension: FrameSize?
        /// Another frame size, for a continuing stream.
        var resize: VideoEncoderConfiguration?
        var setting: VideoSetting?
        var isKeyframeWanted = false
        /// For the camera.
        var controls: [ControlRequest] = []
        /// Replaces the previous filters.
        var filters: LoadedFilters?
    }

    struct ControlRequest: Sendable {
        let changes: [ControlChange]
        /// Waits for the result.
        let asker: ControlAsker?
    }

    /// Requests that the audio thread handles from a time on.
    fileprivate struct AudioRequests {
        var bitrate: Bitrate?
        var isMuted: Bool?
        /// `nil` until the corresponding frame is known.
        var time: MediaTimestamp?
    }

    fileprivate struct Orders {
        var video = VideoRequests()
        /// More requests for the same frame are still to come.
        var isIncomplete = false
        var audioBitrate: Bitrate?
        var isMuted = false
        var pause = VideoPause()
        /// Another sample rate for a restarting stream, and the hub's epoch that it is for.
        var audioReplacement: (quality: AudioQuality, epoch: Int)?
        /// The camera to switch to.
        var camera: CameraWish?
        var filterStatus = FilterStatus()
        /// The audio part of a transaction. It applies from the time of the keyframe that the video part causes.
        var transaction: AudioRequests?
    }

    private let orders = Mutex(Orders())

    public init() {}

    /// Any thread.
    public func requestKeyframe() { orders.withLock { $0.video.isKeyframeWanted = true } }

    /// Makes all requests in `body` take effect at the same frame.
    public func together(_ body: () -> Void) {
        orders.withLock { $0.isIncomplete = true }
        body()
        orders.withLock { $0.isIncomplete = false }
    }

    /// - Parameter asker: is reported together with the result.
    /// - Returns: whether it was taken; while a camera hangs, only so many wait.
    public func set(_ controls: [ControlChange], for asker: ControlAsker?) -> Bool {
        orders.withLock { orders in
            guard orders.video.controls.count < Self.mostWaitingControls else { return false }
            orders.video.controls.append(ControlRequest(changes: controls, asker: asker))
            return true
        }
    }

    private static let mostWaitingControls = 64

    /// Filters the frames with these filters from the next frame on.
    public func setFilters(_ filters: LoadedFilters) { orders.withLock { $0.video.filters = filters } }

    /// The stream's state that text filters show.
    public var filterStatus: FilterStatus {
        get { orders.withLock { $0.filterStatus } }
        set { orders.withLock { $0.filterStatus = newValue } }
    }

    /// Applies related requests together: neither thread sees only half of them.
    /// - Parameters:
    ///   - isMuted: `nil` to leave it unchanged.
    ///   - replacement: a new encoder to start with.
    ///   - resize: the encoder's configuration for another frame size.
    public func perform(
        _ actions: [QualityAction], isMuted: Bool? = nil, replacement: VideoEncoderConfiguration? = nil,
        resize: VideoEncoderConfiguration? = nil
    ) {
        orders.withLock { orders in
            // The stream may still be waiting for the encoder that this one replaces.
            if let replacement {
                orders.video = orders.video.replaced(by: replacement, epoch: orders.video.epoch)
            }
            if let resize { orders.video.resize = resize }
            var audio = AudioRequests(isMuted: isMuted)
            var startsAtKeyframe = false
            for action in actions {
                switch action {
                case .setVideo(let bitrate, let frameRate, let stretchesKeyframes):
                    orders.video.setting = VideoSetting(
                        bitrate: bitrate, frameRate: frameRate, stretchesKeyframes: stretchesKeyframes)
                case .setAudio(let quality): audio.bitrate = quality.bitrate
                case .requestKeyframe:
                    orders.video.isKeyframeWanted = true
                    startsAtKeyframe = true
                case .resizeVideo, .discardWaitingVideo, .restartStream, .reportChange: break
                }
            }
            guard audio.bitrate != nil || audio.isMuted != nil else { return }
            if let earlier = orders.transaction { orders.take(earlier) }
            orders.transaction = startsAtKeyframe ? audio : nil
            if !startsAtKeyframe { orders.take(audio) }
        }
    }

    /// For a stream that ends in order to restart: replaces the encoders.
    /// - Parameters:
    ///   - video: configuration of the new video encoder; `nil` keeps the present one. Earlier requests to it become void.
    ///   - dimension: the largest frame size from now on.
    ///   - audio: the audio encoder's quality; with `replacesAudio`, the source is reopened too.
    ///   - epoch: the epoch that they are for, already started in the hub. It is known before any request, because the
    ///     encoders' threads must not answer before the hub expects them.
    public func replaceEncoders(
        video: VideoEncoderConfiguration?, dimension: FrameSize? = nil, audio: AudioQuality?, replacesAudio: Bool,
        epoch: Int
    ) {
        if let video {
            orders.withLock { orders in
                orders.video = orders.video.replaced(by: video, epoch: epoch)
                orders.video.dimension = dimension
            }
        }
        guard let audio else { return }
        guard replacesAudio else { return perform([.setAudio(audio)]) }
        orders.withLock { $0.audioReplacement = (audio, epoch) }
    }

    /// While muted, audio is sent as silence, so the track continues.
    public func setMuted(_ isMuted: Bool) {
        orders.withLock { orders in
            orders.isMuted = isMuted
            // The latest call counts, even if a transaction is still waiting for its frame.
            orders.transaction?.isMuted = nil
        }
    }

    var isMuted: Bool { orders.withLock { $0.isMuted } }

    /// While paused, audio is sent as silence and video as a still image. The mute state does not change.
    /// - Returns: whether this changes anything.
    public func setPaused(_ isPaused: Bool) -> Bool {
        let now = MonotonicClock.now()
        return orders.withLock { orders in
            isPaused ? orders.pause.state.pauseRequested(now: now) : orders.pause.state.resumeRequested(now: now)
        }
    }

    public var isPaused: Bool { orders.withLock { $0.pause.state.isPaused } }

    /// Sets the image to show in a pause.
    public func setPauseImage(_ image: StillImage?) { orders.withLock { $0.pause.image = image } }

    var pause: VideoPause { orders.withLock { $0.pause } }

    /// Switches to another of the stream's cameras. The last request counts. The encoder follows by itself.
    public func selectCamera(_ name: String) {
        let wish = CameraWish(name: name, time: MonotonicClock.now())
        orders.withLock { $0.camera = wish }
    }

    func takeCamera() -> CameraWish? {
        orders.withLock { orders in
            defer { orders.camera = nil }
            return orders.camera
        }
    }

    /// - Parameter time: when the next frame was captured.
    func takeVideoRequests(at time: MediaTimestamp) -> VideoRequests {
        orders.withLock { orders in
            guard !orders.isIncomplete else { return VideoRequests() }
            defer { orders.video = VideoRequests() }
            if orders.transaction?.time == nil { orders.transaction?.time = time }
            return orders.video
        }
    }

    func takeAudioReplacement() -> (quality: AudioQuality, epoch: Int)? {
        orders.withLock { orders in
            defer { orders.audioReplacement = nil }
            return orders.audioReplacement
        }
    }

    /// - Parameter time: when the next samples were captured.
    /// - Returns: `isMuted` covers both mute and pause.
    func takeAudioRequests(at time: MediaTimestamp) -> (bitrate: Bitrate?, isMuted: Bool) {
        orders.withLock { orders in
            if let transaction = orders.transaction, let start = transaction.time, time >= start {
                orders.take(transaction)
                orders.transaction = nil
            }
            defer { orders.audioBitrate = nil }
            return (orders.audioBitrate, orders.isMuted || orders.pause.state.replaces(capturedAt: time))
        }
    }
}

extension EncoderRequests.VideoRequests {
    /// Earlier requests to the encoder become void; those for camera and filters stay.
    fileprivate func replaced(by encoder: VideoEncoderConfiguration, epoch: Int?) -> Self {
        var requests = Self(replacement: encoder, epoch: epoch)
        requests.dimension = dimension
        requests.controls = controls
        requests.filters = filters
        return requests
    }
}

extension EncoderRequests.Orders {
    fileprivate mutating func take(_ audio: EncoderRequests.AudioRequests) {
        audioBitrate = audio.bitrate ?? audioBitrate
        isMuted = audio.isMuted ?? isMuted
    }
}
