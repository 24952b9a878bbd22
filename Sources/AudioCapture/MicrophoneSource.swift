import DevicePorts
import Glibc
import LinuxIO
import Media

/// A microphone as an endless source: at the stream's rate, on the system's clock, with silence instead of lost audio. Another
/// source can take the microphone's place, for example to be mixed. Used on the audio thread.
public final class MicrophoneSource: AudioSource {
    public enum Event: Hashable, Sendable {
        case interrupted(reason: String)
        case returned(after: Duration)
        /// The source in its place has ended; silence follows.
        case ended(note: String)
    }

    public let format: AudioFormat
    public private(set) var endingNote: String?
    public private(set) var statistics = AudioSourceStatistics()

    private let control: MicrophoneControl
    private let stop: EventFD
    private let notify: @Sendable (Event) -> Void
    private let open: () throws(MicrophoneError) -> any CapturePCM
    private var device: (pcm: any CapturePCM, resampler: Resampler)?
    private let gapThreshold: Duration
    private var corrector: ClockDriftCorrector
    /// The level last reported to the control.
    private var applied: MicrophoneControl.Applied?
    private var ramp: GainRamp
    /// At the stream's rate, not yet delivered.
    private var pending: [Int16] = []
    /// Frames of the card to drop, because the stream is ahead of the clock by this much.
    private var excessFrames = 0
    /// Time of the stream's first frame. Frames are counted from there.
    private var origin: MediaTimestamp?
    private var frameCount = 0
    /// Whether the source was started at a given time and the resampler is still empty.
    private var isFilterEmpty = false
    private var lossTime: MediaTimestamp?
    private var nextAttempt = MediaTimestamp.zero

    /// - Parameters:
    ///   - device: `hw:CARD[,DEVICE]`; empty for the first device.
    ///   - control: controls this microphone while it is open.
    ///   - stop: ends the source when signaled. It is not drained.
    public convenience init(
        device: String, control: MicrophoneControl, sampleRate: Int, stop: EventFD,
        notify: @escaping @Sendable (Event) -> Void
    ) throws {
        try self.init(control, sampleRate: sampleRate, stop: stop, notify: notify) { () throws(MicrophoneError) in
            try ALSACapturePCM.open(device, sampleRate: sampleRate, stop: stop)
        }
    }

    /// Another source, treated the same way; silence follows after its end.
    /// - Parameters:
    ///   - source: with one or two channels.
    ///   - gapThreshold: how far its audio may deviate from the expected time without counting as a loss.
    public convenience init(
        _ source: any AudioSource, control: MicrophoneControl, gapThreshold: Duration, sampleRate: Int,
        stop: EventFD, notify: @escaping @Sendable (Event) -> Void
    ) throws {
        try self.init(control, sampleRate: sampleRate, gapThreshold: gapThreshold, stop: stop, notify: notify) {
            SourcePCM(source)
        }
    }

    init(
        _ control: MicrophoneControl, sampleRate: Int,
        gapThreshold: Duration = ClockDriftCorrector.usualGapThreshold, stop: EventFD,
        notify: @escaping @Sendable (Event) -> Void, open: @escaping () throws(MicrophoneError) -> any CapturePCM
    ) throws {
        self.control = control
        self.stop = stop
        self.notify = notify
        self.open = open
        self.gapThreshold = gapThreshold
        corrector = ClockDriftCorrector(gapThreshold: gapThreshold)
        format = AudioFormat(sampleRate: sampleRate, channelCount: 2)
        ramp = GainRamp(sampleRate: sampleRate)
        let pcm = try open()
        device = (pcm, try Resampler(from: pcm.sampleRate, to: sampleRate))
        adjust()
    }

    deinit { control.closed() }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        try nextBlock(frameCount: wanted, until: nil)
    }

    /// Places the first frame at a time shared with other sources. There is silence until its first audio.
    public func start(at time: MediaTimestamp) {
        origin = time
        isFilterEmpty = true
        corrector.audioLost()
        // Sources are read in turn: a file that started only at its first block would start later than those before it.
        device?.pcm.start(at: time)
    }

    /// - Parameter deadline: audio that arrives later becomes silence; `nil` waits for it.
    func nextBlock(frameCount wanted: Int, until deadline: MediaTimestamp?) throws -> AudioBlock? {
        while pending.count < 2 * wanted {
            guard try device == nil ? waitInSilence(wanted) : readOnce(wanted, until: deadline) else { return nil }
        }
        var samples = Array(pending[..<(2 * wanted)])
        pending.removeFirst(2 * wanted)
        let time = time(ofFrame: frameCount)
        frameCount += wanted
        treat(&samples)
        return AudioBlock(samples: samples, captureTime: time)
    }

    private func time(ofFrame frame: Int) -> MediaTimestamp {
        (origin ?? MonotonicClock.now()) + .ofFrames(frame, sampleRate: format.sampleRate)
    }

    /// - Returns: false if the source was asked to stop.
    private func readOnce(_ wanted: Int, until deadline: MediaTimestamp?) throws -> Bool {
        guard let device else { return true }
        do throws(MicrophoneError) {
            switch try device.pcm.read(until: deadline) {
            case .stopped: return false
            case .late:
                appendSilence(wanted - pending.count / 2)
                corrector.audioLost()
            case .overrun:
                statistics.overruns += 1
                excessFrames = 0
                corrector.audioLost()
            case .block(let samples, let time): try take(samples, at: time, device.resampler)
            }
        } catch {
            self.device = nil
            if case .ended(let note) = error {
                endingNote = note
                notify(.ended(note: note))
                return true
            }
            statistics.interruptions += 1
            lossTime = MonotonicClock.now()
            nextAttempt = MonotonicClock.now() + .seconds(1)
            notify(.interrupted(reason: "\(error)"))
        }
        return true
    }

    private func take(
        _ samples: [Int16], at time: MediaTimestamp, _ resampler: Resampler
    ) throws(MicrophoneError) {
        guard !samples.isEmpty else { return }
        statistics.capturedSamples += samples.count / 2
        if origin == nil { origin = time }
        if excessFrames == 0 { try correct(at: time, resampler) }
        let dropped = min(excessFrames, samples.count / 2)
        excessFrames -= dropped
        try resampler.process(dropped == 0 ? samples : Array(samples[(2 * dropped)...]), to: &pending)
    }

    /// Compares the next sample's time with its position in the stream.
    private func correct(at time: MediaTimestamp, _ resampler: Resampler) throws(MicrophoneError) {
        // Audio still inside the filter comes out first.
        let heard = isFilterEmpty ? time : time - .nanoseconds(Int64(resampler.latency * 1e9))
        isFilterEmpty = false
        switch corrector.blockRead(captureTime: heard, expected: self.time(ofFrame: frameCount + pending.count / 2)) {
        case nil: break
        case .setCorrection(let ppm):
            statistics.driftPPM = corrector.driftPPM
            try resampler.setCorrection(ppm: ppm)
        case .insertSilence(let gap): appendSilence(frames(in: gap, rate: format.sampleRate))
        case .drop(let excess): excessFrames = frames(in: excess, rate: resampler.inputRate)
        }
    }

    /// Gaps longer than a minute come from a machine that slept; the encoder's timeline skips them.
    private func frames(in duration: Duration, rate: Int) -> Int {
        Int(min(duration.inSeconds, 60) * Double(rate))
    }

    private func appendSilence(_ count: Int) {
        statistics.silentSamples += count
        pending += [Int16](repeating: 0, count: 2 * count)
    }

    /// The device is missing: delivers silence in real time and tries to reopen the device now and then.
    private func waitInSilence(_ wanted: Int) throws -> Bool {
        if origin == nil { origin = MonotonicClock.now() }
        let due = time(ofFrame: frameCount + wanted)
        var entries = [PollEntry(stop.fileDescriptor)]
        if try poll(&entries, until: due) > 0 { return false }
        appendSilence(wanted - pending.count / 2)
        guard endingNote == nil, MonotonicClock.now() >= nextAttempt else { return true }
        nextAttempt = MonotonicClock.now() + .seconds(1)
        guard let pcm = try? open(), let resampler = try? Resampler(from: pcm.sampleRate, to: format.sampleRate) else {
            return true
        }
        device = (pcm, resampler)
        // Another device may have another volume, or the driver has reset it.
        applied = nil
        adjust()
        excessFrames = 0
        corrector = ClockDriftCorrector(gapThreshold: gapThreshold)
        corrector.audioLost()
        notify(.returned(after: lossTime.map { MonotonicClock.now() - $0 } ?? .zero))
        return true
    }

    /// Applies the control's current level.
    private func adjust() {
        while let wanted = control.exchange(applied), wanted != applied?.level {
            // Setting a card's gain takes a moment, so do it only when it changes.
            let isGainNew = applied.map { $0.level.gain != wanted.gain } ?? true
            let hardware = isGainNew ? device?.pcm.setHardwareGain(wanted.gain) : applied?.gain.hardware
            let digital = wanted.gain.map { $0 - (hardware ?? 0) } ?? 0
            ramp.change(toDecibels: digital, isMuted: wanted.isMuted)
            applied = MicrophoneControl.Applied(wanted, gain: MicrophoneGain(hardware: hardware, digital: digital))
        }
        statistics.gain = applied?.gain
    }

    /// Applies gain and mute, and measures the level.
    private func treat(_ samples: inout [Int16]) {
        adjust()
        ramp.amplify(&samples)
        var level = LevelMeter()
        for sample in samples { level.add(Float(sample)) }
        (statistics.peakDecibels, statistics.meanDecibels) = (level.peakDecibels, level.meanDecibels)
    }
}
