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

    @Test func totalsOfTheStreamAreTold() throws {
        let totals = StreamEvent.ended(EncodedCounters(), SentCounters(), audioSeconds: 3)
        let text = try #require(totals.text)
        try time.run {
            let device = try camera.makeDevice()
            device.supervisor.start(now: MonotonicClock.now())
            try camera.waitUntil { !camera.streams.runs.isEmpty }
            let run = camera.streams.runs[0]
            run.isHanging.withLock { $0 = true }
            device.supervisor.stop(now: MonotonicClock.now())
            run.say(.stateChanged(.disconnected), totals)
            run.end(nil)
            device.end()
            let stored = camera.read("state/events")
            #expect(stored.contains(text), "\(stored)")
        }
    }
}
