import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic

/// A microphone that is open for a computer, and no stream: it is heard as a stream would have it.
public struct IdleAudio: Sendable {
    private static let retryInterval = Duration.seconds(1)

    private let sink: any AudioSink
    private let settings: @Sendable () throws -> MediaSettings

    /// - Parameter settings: of a stream, asked for each time that the microphone is opened.
    public init(for sink: any AudioSink, as settings: @escaping @Sendable () throws -> MediaSettings) {
        self.sink = sink
        self.settings = settings
    }

    /// Gives it what the microphone hears, as soon and as long as it is there. It is closed when this returns.
    /// - Parameter stop: once signalled, it ends at once. It is not drained.
    public func run(stop: EventFD, report: (IdleAudioEvent) -> Void) {
        var isAway = false
        while !stop.isSignalled(until: MonotonicClock.now()) {
            do {
                try feed(stop: stop) {
                    if isAway { report(.returned) }
                    isAway = false
                }
            } catch {
                if !isAway { report(.away(reason: (error as? StreamFailure)?.text ?? "\(error)")) }
                isAway = true
                guard !stop.isSignalled(until: MonotonicClock.now() + Self.retryInterval) else { return }
            }
        }
    }

    /// Until it is stopped.
    /// - Parameter heard: called with each block.
    /// - Throws: when the microphone does not open, or is gone.
    private func feed(stop: EventFD, heard: () -> Void) throws {
        let settings = try settings()
        // What becomes of a microphone while it is open, a stream says.
        let source = try AudioTrack.source(settings, stop: stop, reports: try Mailbox())
        guard let source else { throw StreamFailure(.microphoneUnavailable, "device.json names none") }
        let microphones = MicrophoneChanges(settings.audio.microphones, hasAudio: true)
        microphones.change(settings.controls.filter { microphones.offer($0.name) != nil }, for: nil)
        while let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) {
            heard()
            sink.offer(block, format: source.format)
        }
        guard stop.isSignalled(until: MonotonicClock.now()) else {
            throw StreamFailure(.microphoneUnavailable, source.endingNote ?? "the source has ended")
        }
    }
}
