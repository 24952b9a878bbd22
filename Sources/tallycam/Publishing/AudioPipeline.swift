import AudioCapture
import DevicePorts
import LinuxIO
import Media
import SyntheticSources

/// Source and encoder: the work of the audio thread.
final class AudioPipeline {
    private let track: AudioTrack
    /// Goes on with silence when the source has ended: the track never disappears under a picture.
    private let fillsWithSilence: Bool
    private let stop: EventFD
    private let queue: MediaQueue
    private let control: EncoderControl
    private let reports: Mailbox<TrackReport>

    init(
        track: AudioTrack, fillsWithSilence: Bool, stop: EventFD, queue: MediaQueue, control: EncoderControl,
        reports: Mailbox<TrackReport>
    ) {
        self.track = track
        self.fillsWithSilence = fillsWithSilence
        self.stop = stop
        self.queue = queue
        self.control = control
        self.reports = reports
    }

    /// Encodes until the source ends, or a block is later than `end`, and reports how it ended.
    func run(until end: MediaTimestamp?) {
        do {
            try encodeAll(of: track.source, until: end)
            if fillsWithSilence, let note = track.source.endingNote {
                reports.send(.note(.audio, "\(note); silence follows"))
                try encodeAll(of: SilenceSource(format: track.source.format, stop: stop), until: end)
            }
            append(try track.encoder.finish())
            reports.send(.ended(.audio, note: fillsWithSilence ? nil : track.source.endingNote))
        } catch let error as AudioEncodingError {
            reports.send(.failed(CommandFailure(.media, code: -1304, "\(error)")))
        } catch {
            reports.send(.failed(CommandFailure(.media, code: -1302, "\(error)")))
        }
    }

    private func encodeAll(of source: any AudioSource, until end: MediaTimestamp?) throws {
        while let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) {
            if let end, block.captureTime >= end { return }
            if let bitrate = control.takeAudioBitrate() { try track.encoder.setBitrate(bitrate) }
            append(try track.encoder.encode(control.isMuted ? block.silenced : block))
        }
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
