import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality
import SyntheticSources

/// Source and encoder: the work of the audio thread.
final class AudioPipeline {
    private var source: any AudioSource
    private var encoder: AACEncoder
    private let reopen: @Sendable (AudioQuality) throws -> AudioTrack?
    /// Goes on with silence when the source has ended: the track never disappears beside video.
    private let fillsWithSilence: Bool
    private let stop: EventFD
    private let queue: SharedSendBuffer
    private let counters: SharedCounters
    private let control: EncoderRequests
    private let reports: Mailbox<TrackEvent>

    init(
        track: AudioTrack, fillsWithSilence: Bool, stop: EventFD, queue: SharedSendBuffer, counters: SharedCounters,
        control: EncoderRequests, reports: Mailbox<TrackEvent>
    ) {
        source = track.source
        encoder = track.encoder
        reopen = track.reopen
        self.fillsWithSilence = fillsWithSilence
        self.stop = stop
        self.queue = queue
        self.counters = counters
        self.control = control
        self.reports = reports
    }

    /// Encodes until the source ends, or a block is later than `end`, and reports how it ended.
    func run(until end: MediaTimestamp?) {
        do {
            try encodeAll(until: end)
            let note = source.endingNote
            if fillsWithSilence, let note {
                reports.send(.note(.audio, "\(note); silence follows"))
                source = SilenceSource(format: source.format, stop: stop)
                try encodeAll(until: end)
            }
            append(try encoder.finish())
            reports.send(.ended(.audio, note: fillsWithSilence ? nil : note))
        } catch let error as AudioEncodingError {
            reports.send(.failed(StreamFailure(.audioEncodingFailed, "\(error)")))
        } catch {
            reports.send(.failed(StreamFailure(.microphoneUnavailable, "\(error)")))
        }
    }

    private func encodeAll(until end: MediaTimestamp?) throws {
        while let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) {
            if let end, block.captureTime >= end { return }
            if let replacement = control.takeAudioReplacement() {
                try replace(replacement.quality, of: replacement.pause)
                continue
            }
            let orders = control.takeAudioRequests(at: block.captureTime)
            if let bitrate = orders.bitrate { try encoder.setBitrate(bitrate) }
            append(try encoder.encode(orders.isMuted ? block.silenced : block))
            let statistics = source.statistics
            counters.update { $0.audioSource = statistics }
        }
    }

    /// Another sample rate: source and encoder anew, the header first.
    /// - Parameter pause: in which the stream waits for it.
    private func replace(_ quality: AudioQuality, of pause: Int) throws {
        // The source before is closed first.
        source = SilenceSource(format: source.format, stop: stop)
        guard let track = try reopen(quality) else { return }
        source = track.source
        encoder = track.encoder
        queue.audioEncoderReplaced(of: pause)
        append([encoder.takeHeader(at: MonotonicClock.now())])
    }

    private func append(_ packets: [EncodedPacket]) {
        let events = queue.append(packets)
        if !events.isEmpty { reports.send(.buffer(events)) }
    }
}

extension AudioBlock {
    /// As long, and silent.
    fileprivate var silenced: AudioBlock {
        AudioBlock(samples: [Int16](repeating: 0, count: samples.count), captureTime: captureTime)
    }
}
