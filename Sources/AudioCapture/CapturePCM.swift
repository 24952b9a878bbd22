import CALSA
import DevicePorts
import Glibc
import LinuxIO
import Media

/// Result of a read from a sound card.
enum PCMRead: Hashable, Sendable {
    /// Interleaved stereo samples; `time` is the capture time of the first one.
    case block([Int16], time: MediaTimestamp)
    /// The card's buffer was full, and audio was lost. Reading continues.
    case overrun
    /// The deadline passed first.
    case late
    case stopped
}

/// A sound card opened for capture.
protocol CapturePCM: AnyObject {
    /// The hardware's own frames per second.
    var sampleRate: Int { get }
    /// See `AudioSource`.
    func start(at time: MediaTimestamp)
    /// Waits for the next samples. The first call starts the card.
    /// - Parameter deadline: when to return `late`; `nil` for never.
    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead
    /// Sets the hardware gain as closely as the card can.
    /// - Parameter decibels: `nil` to leave it unchanged.
    /// - Returns: the actual gain; `nil` if the card has no capture volume.
    func setHardwareGain(_ decibels: Double?) -> Double?
}

extension CapturePCM {
    func start(at time: MediaTimestamp) {}
    func setHardwareGain(_ decibels: Double?) -> Double? { nil }
}

/// A card accessed through ALSA at the hardware's own rate. alsa-lib's plug device converts its samples to stereo S16.
final class ALSACapturePCM: CapturePCM {
    let sampleRate: Int
    private let device: String
    private let handle: OpaquePointer
    private let stop: EventFD
    private let periodSize: Int
    private var samples: [Int16]
    private var isStarted = false
    /// Start of the present wait for samples, which may span several calls.
    private var waitStart: MediaTimestamp?
    private lazy var volume = Self.volume(of: handle)

    /// The card's buffer: how late a loaded machine may be.
    private static let bufferTime: UInt32 = 400_000
    private static let periodTime: UInt32 = 10_000
    /// A card that is silent for this long counts as unplugged.
    private static let silenceTimeout = Duration.seconds(2)

    /// Opens a card on a separate thread. A hanging driver delays the caller by 3 s at most, and later attempts fail at once.
    /// - Parameters:
    ///   - device: `hw:CARD[,DEVICE]`; empty for the first device.
    ///   - sampleRate: used if the hardware supports it, else the nearest.
    static func open(
        _ device: String, sampleRate: Int, stop: EventFD
    ) throws(MicrophoneError) -> sending ALSACapturePCM {
        let opened: Result<ALSACapturePCM, MicrophoneError>
        do throws(NodeOccupancyError) {
            let path = device.isEmpty ? "/dev/snd" : device
            opened = try NodeOccupancy.call(of: path, timeout: MicrophoneError.answerTimeout) {
                Result { () throws(MicrophoneError) in
                    try ALSACapturePCM(device, sampleRate: sampleRate, stop: stop)
                }
            }
        } catch {
            throw .blocked(device: device, error)
        }
        return try opened.get()
    }

    private init(_ device: String, sampleRate: Int, stop: EventFD) throws(MicrophoneError) {
        let named = device.isEmpty ? Microphone.all().first?.device ?? "hw:0" : device
        guard named.hasPrefix("hw:"), named.utf8.count > 3, named.utf8.allSatisfy({ $0 > 32 && $0 != 34 }) else {
            throw .badName(named)
        }
        self.device = named
        self.stop = stop
        var handle: OpaquePointer?
        let status = ALSAConfiguration.with {
            snd_pcm_open_lconf(&handle, "plug\(named)", SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK), $0)
        }
        guard status >= 0, let handle else {
            if status == -ENODEV, Self.isForbidden(named) { throw .forbidden(device: named) }
            throw MicrophoneError(named, "snd_pcm_open", status)
        }
        do throws(MicrophoneError) {
            (self.sampleRate, periodSize) = try Self.configure(handle, named, sampleRate: sampleRate)
        } catch {
            snd_pcm_close(handle)
            throw error
        }
        self.handle = handle
        samples = [Int16](repeating: 0, count: 2 * periodSize)
    }

    deinit { snd_pcm_close(handle) }

    /// Whether the card exists but this user may not open it. When it looks up a name, alsa-lib skips such cards and then
    /// reports that there is no such card.
    private static func isForbidden(_ device: String) -> Bool {
        let card = device.dropFirst("hw:".count).prefix { $0 != "," && $0 != "/" }
        guard access("/proc/asound/\(card)", F_OK) == 0 else { return false }
        let controls: [String] = (0..<32).map { "/dev/snd/controlC\($0)" }
        return controls.contains { access($0, F_OK) == 0 && access($0, R_OK | W_OK) != 0 }
    }

    private static func configure(
        _ handle: OpaquePointer, _ device: String, sampleRate: Int
    ) throws(MicrophoneError) -> (rate: Int, period: Int) {
        func check(_ call: String, _ status: Int32) throws(MicrophoneError) {
            guard status >= 0 else { throw MicrophoneError(device, call, status) }
        }
        var hardware: OpaquePointer?
        try check("snd_pcm_hw_params_malloc", snd_pcm_hw_params_malloc(&hardware))
        defer { snd_pcm_hw_params_free(hardware) }
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, hardware))
        // Keep the hardware's rate: its clock is measured, and the audio is resampled to the system's clock.
        try check("snd_pcm_hw_params_set_rate_resample", snd_pcm_hw_params_set_rate_resample(handle, hardware, 0))
        try check("set_access", snd_pcm_hw_params_set_access(handle, hardware, SND_PCM_ACCESS_RW_INTERLEAVED))
        try check("set_format", snd_pcm_hw_params_set_format(handle, hardware, SND_PCM_FORMAT_S16_LE))
        try check("set_channels", snd_pcm_hw_params_set_channels(handle, hardware, 2))
        var rate = UInt32(sampleRate)
        var direction: Int32 = 0
        try check("set_rate", snd_pcm_hw_params_set_rate_near(handle, hardware, &rate, &direction))
        var period = periodTime
        try check("set_period_time", snd_pcm_hw_params_set_period_time_near(handle, hardware, &period, &direction))
        var buffer = bufferTime
        try check("set_buffer_time", snd_pcm_hw_params_set_buffer_time_near(handle, hardware, &buffer, &direction))
        try check("snd_pcm_hw_params", snd_pcm_hw_params(handle, hardware))
        var periodSize: snd_pcm_uframes_t = 0
        try check("get_period_size", snd_pcm_hw_params_get_period_size(hardware, &periodSize, &direction))

        var software: OpaquePointer?
        try check("snd_pcm_sw_params_malloc", snd_pcm_sw_params_malloc(&software))
        defer { snd_pcm_sw_params_free(software) }
        try check("snd_pcm_sw_params_current", snd_pcm_sw_params_current(handle, software))
        try check("set_tstamp_mode", snd_pcm_sw_params_set_tstamp_mode(handle, software, SND_PCM_TSTAMP_ENABLE))
        try check("set_tstamp_type", snd_pcm_sw_params_set_tstamp_type(handle, software, SND_PCM_TSTAMP_TYPE_MONOTONIC))
        try check("set_avail_min", snd_pcm_sw_params_set_avail_min(handle, software, periodSize))
        try check("snd_pcm_sw_params", snd_pcm_sw_params(handle, software))
        guard (4000...400_000).contains(rate), (1...100_000).contains(periodSize) else {
            throw .failed(device: device, call: "snd_pcm_hw_params", number: ERANGE)
        }
        return (Int(rate), Int(periodSize))
    }

    private static func volume(of handle: OpaquePointer) -> CaptureVolume? {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) >= 0, let info else { return nil }
        defer { snd_pcm_info_free(info) }
        guard snd_pcm_info(handle, info) >= 0 else { return nil }
        return CaptureVolume(card: snd_pcm_info_get_card(info), device: snd_pcm_info_get_device(info))
    }

    func setHardwareGain(_ decibels: Double?) -> Double? { volume?.set(decibels) }

    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead {
        if !isStarted {
            let status = snd_pcm_start(handle)
            guard status >= 0 else { throw MicrophoneError(device, "snd_pcm_start", status) }
            isStarted = true
        }
        if let reason = try waitForSamples(until: deadline) { return reason }
        // The card's position and its timestamp; they give the next sample's time.
        var available: snd_pcm_uframes_t = 0
        var stamp = timespec()
        let hasStamp = snd_pcm_htimestamp(handle, &available, &stamp) >= 0 && stamp.tv_sec > 0
        let count = samples.withUnsafeMutableBytes { snd_pcm_readi(handle, $0.baseAddress, UInt(periodSize)) }
        if count == -Int(EPIPE) || count == -Int(ESTRPIPE) {
            let status = snd_pcm_prepare(handle)
            guard status >= 0 else { throw MicrophoneError(device, "snd_pcm_prepare", status) }
            isStarted = false
            return .overrun
        }
        if count == -Int(EAGAIN) { return .block([], time: MonotonicClock.now()) }
        guard count >= 0 else { throw MicrophoneError(device, "snd_pcm_readi", Int32(count)) }
        let now = MonotonicClock.now()
        var time = now - duration(count)
        if hasStamp {
            let nanoseconds = Int64(stamp.tv_sec) &* 1_000_000_000 &+ Int64(stamp.tv_nsec)
            time = min(MediaTimestamp(nanoseconds: nanoseconds) - duration(Int(available)), time)
        }
        return .block(Array(samples[..<(2 * count)]), time: time)
    }

    private func duration(_ frames: Int) -> Duration {
        .nanoseconds(Int64(frames) &* 1_000_000_000 / Int64(sampleRate))
    }

    private enum Waited {
        case stop, samples
    }

    /// - Returns: `nil` if samples are available, else the reason why not.
    private func waitForSamples(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead? {
        let count = snd_pcm_poll_descriptors_count(handle)
        guard (1...16).contains(count) else { throw .gone(device: device) }
        var descriptors = [pollfd](repeating: pollfd(), count: Int(count))
        snd_pcm_poll_descriptors(handle, &descriptors, UInt32(count))
        var waits: PollSet<Waited> = [.stop: stop.fileDescriptor]
        waits.add(.samples, descriptors.map { PollEntry($0.fd, PollEvents(rawValue: $0.events)) })
        let start = waitStart ?? MonotonicClock.now()
        let end = start + Self.silenceTimeout
        do throws(SystemCallError) {
            if try waits.wait(until: min(deadline ?? end, end)) {
                waitStart = nil
                return waits.isReady(.stop) ? .stopped : nil
            }
        } catch {
            throw .gone(device: device)
        }
        guard MonotonicClock.now() < end else { throw .gone(device: device) }
        waitStart = start
        return .late
    }
}
