import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// The device on the test's own thread, which ends while a stopped stream still has something to say.
@Suite(.serialized) struct ProgramEndTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench"}"#) }

    /// - Parameter sayLast: after the stream was stopped, and before the program ends.
    /// - Returns: the stored events.
    private func events(_ sayLast: (ScriptedStreams.Run) -> Void) throws -> String {
        try time.run {
            let device = try camera.makeDevice()
            device.supervisor.start(now: MonotonicClock.now())
            try camera.waitUntil { !camera.streams.runs.isEmpty }
            let run = camera.streams.runs[0]
            run.isHanging.withLock { $0 = true }
            device.supervisor.stop(now: MonotonicClock.now())
            sayLast(run)
            device.end()
            return camera.read("state/events")
        }
    }

    @Test func totalsOfTheStreamAreTold() throws {
        let totals = StreamEvent.ended(EncodedCounters(), SentCounters(), audioSeconds: 3)
        let text = try #require(totals.text)
        let stored = try events { run in
            run.say(.stateChanged(.disconnected), totals)
            run.end(nil)
        }
        #expect(stored.contains(text), "\(stored)")
    }

    @Test func failureOfTheStreamIsTold() throws {
        let stored = try events { $0.end(StreamFailure(.system, "the last packet was refused")) }
        #expect(stored.contains("the stream has failed"), "\(stored)")
        #expect(stored.contains("the last packet was refused"), "\(stored)")
    }
}
