import DevicePorts
import Media

/// Another source in place of a card. It sets its own pace, so reading waits for it, and has its own rate.
final class SourcePCM: CapturePCM {
    let sampleRate: Int
    private let source: any AudioSource

    /// - Parameter source: with one or two channels.
    init(_ source: any AudioSource) {
        self.source = source
        sampleRate = source.format.sampleRate
    }

    func start(at time: MediaTimestamp) { source.start(at: time) }

    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead {
        let block: AudioBlock?
        do {
            // As long as a card's period.
            block = try source.nextBlock(frameCount: max(1, sampleRate / 100))
        } catch {
            throw .ended(note: "\(error)")
        }
        if let block { return .block(stereo(block.samples), time: block.captureTime) }
        guard let note = source.endingNote else { return .stopped }
        throw .ended(note: note)
    }

    private func stereo(_ samples: [Int16]) -> [Int16] {
        source.format.channelCount == 1 ? samples.flatMap { [$0, $0] } : samples
    }
}
