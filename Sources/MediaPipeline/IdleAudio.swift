import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic

/// A microphone that is open for a computer without a stream, with the same audio as in a stream.
public struct IdleAudio: Sendable {
    private static let retryInterval = Duration.seconds(1)

    private let sink: any AudioSink
    private let settings: @Sendable () throws -> MediaSettings

    /// - Parameter settings: a stream's settings, queried each time the microphone is opened.
    public init(for sink: any AudioSink, as settings: @escaping @Sendable () throws -> MediaSettings) {
        self.sink = sink
        self.settings = settings
    }

    /// Passes on the microphone's audio whenever it is available. The microphone is closed when this returns.
    /// - Parameter stop: ends this at once when signaled. It is not drained.
    public func run(stop: EventFD, report: (IdleAudioEvent) -> Void) {
        var isAway = false
        func learned(_ problem: String?) {
            guard isAway != (problem != nil) else { return }
            isAway = problem != nil
            report(problem.map { .away(reason: $0) } ?? .returned)
        }
        while !stop.isSignaled(until: MonotonicClock.now()) {
            do {
                try feed(stop: stop, learned)
            } catch {
                learned((error as? StreamFailure)?.text ?? "\(error)")
                guard !stop.isSignaled(until: MonotonicClock.now() + Self.retryInterval) else { return }
            }
        }
    }

    /// Runs until it is stopped.
    /// - Parameter learned: called for each block with the reason why it contains only silence, or `nil` for audio.
    /// - Throws: if the microphone cannot be opened, or its source ends.
    private func feed(stop: EventFD, _ learned: (String?) -> Void) throws {
        let settings = try settings()
        let reports = try Mailbox<TrackEvent>()
        let source = try AudioTrack.source(settings, stop: stop, reports: reports)
        guard let source else { throw StreamFailure(.microphoneUnavailable, "device.json names none") }
        let microphones = MicrophoneChanges(settings.audio.microphones, hasAudio: true)
        microphones.change(settings.controls.filter { microphones.offer($0.name) != nil }, for: nil)
        var lost = LostMicrophones(of: settings.audio.microphones.count)
        while let block = try source.nextBlock(frameCount: AACEncoder.framesPerPacket) {
            for case .audio(.source(let event)) in reports.takeAll() { lost.changed(event) }
            learned(lost.problem)
            sink.offer(block, format: source.format)
        }
        guard stop.isSignaled(until: MonotonicClock.now()) else {
            throw StreamFailure(.microphoneUnavailable, source.endingNote ?? "the source has ended")
        }
    }
}
