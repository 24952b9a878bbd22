import CALSA
import Glibc
import LinuxIO
import Media

/// A card opened for playback, from which a computer records. Used from one thread.
protocol GadgetCard: AnyObject {
    /// Readable when the computer starts or stops recording.
    var eventDescriptor: Int32 { get }

    /// Whether a program on the computer is recording. Otherwise the audio goes nowhere.
    var isRecorded: Bool { get }

    /// Consumes pending events. They carry no details; query the state afterwards.
    func takeEvents()

    /// - Parameter partsPerMillion: how much faster than the nominal rate.
    func setPitch(partsPerMillion: Double)

    /// Audio that the computer has not taken yet.
    var fill: Duration { get }

    /// Empties the card for new audio.
    func restart() throws(MicrophoneError)

    /// Writes stereo samples; those that do not fit are dropped.
    /// - Returns: false if the card had run empty.
    func write(_ samples: [Int16]) throws(MicrophoneError) -> Bool
}

/// The card of the gadget's audio function (f_uac2).
final class GadgetPCM: GadgetCard {
    static let sampleRate = 48_000
    private static let device = "plughw:UAC2Gadget"
    private static let card = "hw:UAC2Gadget"
    /// In microseconds. The card accepts no period longer than a page of memory.
    private static let periodTime: UInt32 = 20_000
    private static let bufferTime: UInt32 = 240_000

    private let pcm: OpaquePointer
    private let control: OpaquePointer
    let eventDescriptor: Int32

    init() throws(MicrophoneError) {
        var opened: OpaquePointer?
        let status = ALSAConfiguration.with {
            snd_pcm_open_lconf(&opened, Self.device, SND_PCM_STREAM_PLAYBACK, Int32(SND_PCM_NONBLOCK), $0)
        }
        guard status >= 0, let pcm = opened else { throw MicrophoneError(Self.device, "snd_pcm_open", status) }
        do throws(MicrophoneError) {
            try Self.configure(pcm)
            (control, eventDescriptor) = try Self.openControl()
        } catch {
            snd_pcm_close(pcm)
            throw error
        }
        self.pcm = pcm
    }

    deinit {
        snd_ctl_close(control)
        snd_pcm_close(pcm)
    }

    private static func check(_ call: String, _ status: Int32) throws(MicrophoneError) {
        guard status >= 0 else { throw MicrophoneError(device, call, status) }
    }

    private static func configure(_ pcm: OpaquePointer) throws(MicrophoneError) {
        var hardware: OpaquePointer?
        try check("snd_pcm_hw_params_malloc", snd_pcm_hw_params_malloc(&hardware))
        defer { snd_pcm_hw_params_free(hardware) }
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(pcm, hardware))
        try check("set_access", snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED))
        try check("set_format", snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S16_LE))
        try check("set_channels", snd_pcm_hw_params_set_channels(pcm, hardware, 2))
        try check("set_rate", snd_pcm_hw_params_set_rate(pcm, hardware, UInt32(sampleRate), 0))
        var (period, buffer, direction) = (periodTime, bufferTime, Int32(0))
        try check("set_period_time", snd_pcm_hw_params_set_period_time_near(pcm, hardware, &period, &direction))
        try check("set_buffer_time", snd_pcm_hw_params_set_buffer_time_near(pcm, hardware, &buffer, &direction))
        try check("snd_pcm_hw_params", snd_pcm_hw_params(pcm, hardware))

        var software: OpaquePointer?
        try check("snd_pcm_sw_params_malloc", snd_pcm_sw_params_malloc(&software))
        defer { snd_pcm_sw_params_free(software) }
        try check("snd_pcm_sw_params_current", snd_pcm_sw_params_current(pcm, software))
        // Start playing with the first sample.
        try check("set_start_threshold", snd_pcm_sw_params_set_start_threshold(pcm, software, 1))
        try check("snd_pcm_sw_params", snd_pcm_sw_params(pcm, software))
    }

    private static func openControl() throws(MicrophoneError) -> (OpaquePointer, Int32) {
        var opened: OpaquePointer?
        let status = ALSAConfiguration.with { snd_ctl_open_lconf(&opened, card, Int32(SND_CTL_NONBLOCK), $0) }
        guard status >= 0, let control = opened else { throw MicrophoneError(device, "snd_ctl_open", status) }
        var entry = pollfd()
        guard snd_ctl_subscribe_events(control, 1) >= 0, snd_ctl_poll_descriptors(control, &entry, 1) == 1 else {
            snd_ctl_close(control)
            throw .failed(device: device, call: "snd_ctl_subscribe_events", number: EIO)
        }
        return (control, entry.fd)
    }

    var isRecorded: Bool { (value(named: "Playback Rate") ?? 0) > 0 }

    func takeEvents() {
        var event: OpaquePointer?
        guard snd_ctl_event_malloc(&event) >= 0, let event else { return }
        defer { snd_ctl_event_free(event) }
        for _ in 0..<64 { guard snd_ctl_read(control, event) > 0 else { return } }
    }

    func setPitch(partsPerMillion: Double) {
        set(Int(1_000_000 + partsPerMillion.rounded()), named: "Playback Pitch 1000000")
    }

    var fill: Duration {
        var frames: snd_pcm_sframes_t = 0
        return snd_pcm_delay(pcm, &frames) >= 0 ? .ofFrames(max(0, frames), sampleRate: Self.sampleRate) : .zero
    }

    func restart() throws(MicrophoneError) {
        snd_pcm_drop(pcm)
        try Self.check("snd_pcm_prepare", snd_pcm_prepare(pcm))
    }

    func write(_ samples: [Int16]) throws(MicrophoneError) -> Bool {
        let count = samples.withUnsafeBytes { snd_pcm_writei(pcm, $0.baseAddress, UInt(samples.count / 2)) }
        switch -count {
        case Int(EPIPE), Int(ESTRPIPE): return false
        case Int(EAGAIN): return true
        default:
            try Self.check("snd_pcm_writei", Int32(clamping: count))
            return true
        }
    }

    private func value(named name: String) -> Int? {
        withElement(named: name) { value in
            guard snd_ctl_elem_read(control, value) >= 0 else { return nil }
            return Int(snd_ctl_elem_value_get_integer(value, 0))
        }
    }

    private func set(_ number: Int, named name: String) {
        _ = withElement(named: name) { value in
            snd_ctl_elem_value_set_integer(value, 0, number)
            return Int(snd_ctl_elem_write(control, value))
        }
    }

    private func withElement(named name: String, _ body: (OpaquePointer) -> Int?) -> Int? {
        var value: OpaquePointer?
        guard snd_ctl_elem_value_malloc(&value) >= 0, let value else { return nil }
        defer { snd_ctl_elem_value_free(value) }
        snd_ctl_elem_value_set_interface(value, SND_CTL_ELEM_IFACE_PCM)
        snd_ctl_elem_value_set_name(value, name)
        return body(value)
    }
}
