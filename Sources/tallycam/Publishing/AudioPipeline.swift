import AudioCapture
import DevicePorts
import Media

/// Source and encoder: the work of the audio thread.
final class AudioPipeline {
    private let source: any AudioSource
    private let encoder: AACEncoder
    private let queue: MediaQueue

    init(source: any AudioSource, encoder: AACEncoder, queue: MediaQueue) {
        self.source = source
        self.encoder = encoder
        self.queue = queue
    }

    /// Encodes until the source ends, or a block is later than `end`.
    func run(until end: MediaTimestamp?) throws {
        while let block = try source.nextBlock(frameCount: 1024) {
            if let end, block.captureTime >= end { break }
            _ = queue.append(try encoder.encode(block))
        }
    }
}
