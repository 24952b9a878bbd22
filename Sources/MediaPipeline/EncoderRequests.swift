import Controls
import DevicePorts
import FrameFiltering
import LinuxIO
import Media
import StreamLogic
import StreamQuality
import Synchronization
import VideoCapture

/// What the thread `stream` wants of the encoders. Each encoder's thread takes its part before its next frame or block of
/// samples.
public final class EncoderRequests: Sendable {
    struct VideoSetting: Sendable {
        let bitrate: Bitrate
        let frameRate: FrameRate
        let stretchesKeyframes: Bool
    }

    /// What the video thread does before its next frame, in this order.
    struct VideoRequests: Sendable {
        /// A new encoder, for a stream that starts again.
        var replacement: VideoEncoderConfiguration?
        /// The hub's epoch that it is for; `nil` for the present one.
        var epoch: Int?
        /// The largest size of the stream that starts again.
        var dimension: FrameSize?
        /// Frames of another size, in a stream that goes on.
        var resize: VideoEncoderConfiguration?
        var setting: VideoSetting?
        var isKeyframeWanted = false
        /// Of the camera.
        var controls: [ControlRequest] = []
        /// In place of those before.
        var filters: LoadedFilters?
    }

    struct ControlRequest: Sendable {
        let changes: [ControlChange]
        /// Who waits for what becomes of it.
        let id: CommandID?
    }

    /// What the audio thread does from a time on.
    fileprivate struct AudioRequests {
        var bitrate: Bitrate?
        var isMuted: Bool?
        /// `nil` until the frame is known that it belongs to.
        var time: MediaTimestamp?
    }

    fileprivate struct Orders {
        var video = VideoRequests()
        /// More belongs to the same frame.
        var isIncomplete = false
        var audioBitrate: Bitrate?
        var isMuted = false
        var pause = VideoPause()
        /// Another sample rate, for a stream that starts again; and the hub's epoch that it is for.
        var audioReplacement: (quality: AudioQuality, epoch: Int)?
        /// The camera that is to be on.
        var camera: CameraWish?
        var filterStatus = FilterStatus()
        /// The audio part of a transaction: it counts from the time of the keyframe that the video's part makes.
        var transaction: AudioRequests?
    }

    private let orders = Mutex(Orders())

    public init() {}

    /// Any thread.
    public func requestKeyframe() { orders.withLock { $0.video.isKeyframeWanted = true } }

    /// All that `body` asks for takes effect with one frame.
    public func together(_ body: () -> Void) {
        orders.withLock { $0.isIncomplete = true }
        body()
        orders.withLock { $0.isIncomplete = false }
    }

    /// - Parameter id: is reported with what becomes of it.
    public func set(_ controls: [ControlChange], for id: CommandID?) {
        orders.withLock { $0.video.controls.append(ControlRequest(changes: controls, id: id)) }
    }

    /// Frames pass these from the next one on.
    public func setFilters(_ filters: LoadedFilters) { orders.withLock { $0.video.filters = filters } }

    /// What filters write of the stream.
    public var filterStatus: FilterStatus {
        get { orders.withLock { $0.filterStatus } }
        set { orders.withLock { $0.filterStatus = newValue } }
    }

    /// What belongs together takes effect together: neither thread sees half of it.
    /// - Parameters:
    ///   - isMuted: `nil` to leave it.
    ///   - replacement: a new encoder, with which it starts.
    ///   - resize: what the encoder is to be for frames of another size.
    public func perform(
        _ actions: [QualityAction], isMuted: Bool? = nil, replacement: VideoEncoderConfiguration? = nil,
        resize: VideoEncoderConfiguration? = nil
    ) {
        orders.withLock { orders in
            // The stream may still wait for the one that this one comes in place of.
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

    /// For a stream that ends to start again: others take the encoders' places from now on.
    /// - Parameters:
    ///   - video: what a new video encoder is opened with; `nil` keeps the present one. What was ordered from that is void.
    ///   - dimension: the largest size that the stream has from now on.
    ///   - audio: what audio is encoded with; with `replacesAudio` it is captured anew, too.
    ///   - epoch: that they are for; the hub has started it. It is known before anything is ordered: what the encoders'
    ///     threads answer must not come before the hub waits for it.
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

    /// While muted, audio goes out as silence: the track stays.
    public func setMuted(_ isMuted: Bool) {
        orders.withLock { orders in
            orders.isMuted = isMuted
            // What is said last counts, though a transaction may still wait for its frame.
            orders.transaction?.isMuted = nil
        }
    }

    var isMuted: Bool { orders.withLock { $0.isMuted } }

    /// While paused, audio goes out as silence and frames as a still; whether it is muted stays as it is.
    /// - Returns: whether that is a change.
    public func setPaused(_ isPaused: Bool) -> Bool {
        let now = MonotonicClock.now()
        return orders.withLock { orders in
            isPaused ? orders.pause.state.pauseRequested(now: now) : orders.pause.state.resumeRequested(now: now)
        }
    }

    public var isPaused: Bool { orders.withLock { $0.pause.state.isPaused } }

    /// What is shown in a pause from now on.
    public func setPauseImage(_ image: StillImage?) { orders.withLock { $0.pause.image = image } }

    var pause: VideoPause { orders.withLock { $0.pause } }

    /// Another of the stream's cameras is to be on. The last wish counts; the encoder's part of it comes by itself.
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

    /// - Parameter time: when the frame was taken that comes next.
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

    /// - Parameter time: when the samples were taken that come next.
    /// - Returns: `isMuted` for whatever reason: muted or paused.
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
    /// What was ordered from the encoder before is void; what camera and filters are asked for stays.
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
