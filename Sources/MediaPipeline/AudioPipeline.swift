import DevicePorts
import Encoding
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality
import SyntheticSources

/// Source and encoder: the body of the audio thread.
final class AudioPipeline {
    private var source: any AudioSource
    private var encoder: AACEncoder
    private let reopen: @Sendable (AudioQuality) throws -> AudioTrack?
    /// Whether to continue with silence after the source has ended, so that audio never disappears beside video.
    private let fillsWithSilence: Bool
    /// Whether the microphone's start was reported, or there is no microphone.
    private var hasStarted: Bool
    /// Counts for a source that keeps none itself, such as the test tone.
    private var counted = AudioSourceStatistics()
    private let sinks: [any AudioSink]
    private let context: StreamContext
    /// The epoch that the encoder was created for.
    private var epoch = PacketHub.firstEpoch

    init(
        track: AudioTrack, fillsWithSilence: Bool, sinks: [any AudioSink], context: StreamContext
    ) {
        source = track.source
        encoder = track.encoder
        reopen = track.reopen
        hasStarted = !track.hasMicrophone
        self.fillsWithSilence = fillsWithSilence
        self.sinks = sinks
        self.context = context
    }

    /// Encodes from the gate's opening until the source ends or a block is later than the gate's end, then reports the end.
    /// - Parameter isLive: whether unread audio is lost. If so, sinks beside the stream already hear it before the gate opens.
    func run(behind gate: StartGate, isLive: Bool) {
        do {
            if isLive { try play(before: gate) }
            guard gate.waitForStart() else { return context.reports.send(.ended(.audio, note: nil)) }
            let end = gate.end
            try encodeAll(until: end)
            let note = source.endingNote
            if fillsWithSilence, let note {
                context.reports.send(.audio(.note("\(note); sending silence from here on")))
                source = SilenceSource(format: source.format, stop: context.stop)
                try encodeAll(until: end)
            }
            append(try encoder.finish())
            context.reports.send(.ended(.audio, note: fillsWithSilence ? nil : note))
        } catch let error as AudioEncodingError {
            context.reports.send(.failed(StreamFailure(.audioEncodingFailed, "\(error)")))
        } catch {
            context.reports.send(.failed(StreamFailure(.microphoneUnavailable, "\(error)")))
        }
    }

    /// How often to check whether someone is listening.
    private static let lookInterval = Duration.milliseconds(200)

    /// A server may never answer, but a computer should hear audio anyway. Once a block was read, reading continues: an unread
    /// card overruns, and all that time would have to be filled with silence.
    private func play(before gate: StartGate) throws {
        guard !sinks.isEmpty else { return }
        var isReading = false
        while true {
            isReading = isReading || sinks.contains { $0.wantsAudio }
            guard !gate.isPassed(within: isReading ? .zero : Self.lookInterval) else { return }
            guard isReading else { continue }
            guard let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) else { return }
            _ = try takeOrders(with: block)
        }
    }

    /// - Returns: the audible block, which the sinks beside the stream have received by then.
    private func takeOrders(with block: AudioBlock) throws(AudioEncodingError) -> AudioBlock {
        if !hasStarted {
            hasStarted = true
            let format = source.format
            let start = SourceStart.microphone(sampleRate: format.sampleRate, channelCount: format.channelCount)
            context.reports.send(.audio(.source(.started(start))))
        }
        let orders = context.requests.takeAudioRequests(at: block.captureTime)
        if let bitrate = orders.bitrate { try encoder.setBitrate(bitrate) }
        let heard = orders.isMuted ? block.silenced : block
        for sink in sinks { sink.offer(heard, format: source.format) }
        return heard
    }

    private func encodeAll(until end: MediaTimestamp?) throws {
        while let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) {
            if let end, block.captureTime >= end { return }
            if let replacement = context.requests.takeAudioReplacement() {
                try replace(replacement.quality, in: replacement.epoch)
                continue
            }
            append(try encoder.encode(try takeOrders(with: block)))
            let statistics = statistics(with: block)
            context.counters.update { $0.audioSource = statistics }
        }
    }

    private func statistics(with block: AudioBlock) -> AudioSourceStatistics {
        let statistics = source.statistics
        guard statistics.capturedSamples + statistics.silentSamples == 0 else { return statistics }
        counted.capturedSamples += block.samples.count / source.format.channelCount
        (counted.peakDecibels, counted.meanDecibels) = (block.peakDecibels, block.meanDecibels)
        return counted
    }

    /// Reopens source and encoder at another sample rate, sending the header first.
    /// - Parameter epoch: the epoch that they are for.
    private func replace(_ quality: AudioQuality, in epoch: Int) throws {
        // Close the previous source first.
        source = SilenceSource(format: source.format, stop: context.stop)
        guard let track = try reopen(quality) else { return }
        source = track.source
        encoder = track.encoder
        hasStarted = !track.hasMicrophone
        self.epoch = epoch
        append([encoder.takeHeader(at: MonotonicClock.now())])
    }

    private func append(_ packets: [EncodedPacket]) { context.hub.append(packets, epoch: epoch) }
}
