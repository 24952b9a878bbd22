import ApplianceLogic
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

@Suite(.serialized) struct DeadEncoderTests {
    private let time = VirtualTime()

    @Test func deadEncoderIsReportedUntilItWorksAgain() throws {
        try time.run {
            let camera = try Camera(board: #"{"name": "Bench"}"#)
            try camera.start()
            camera.goLive()
            try camera.waitUntil { try camera.state() == "live" }
            camera.reported(.hardwareEncoderDead(reason: Camera.reason))
            try camera.waitUntil { try camera.state() == ApplianceState.liveInSoftware.name }
            let status = try camera.status()
            #expect(status.faults == [10] && status.details.contains { $0.contains(Camera.reason) })
            try camera.waitUntil { camera.read("boot/faults.txt").contains(ApplianceFault.hardwareEncoder.meaning) }
            #expect(camera.read("boot/faults.txt").contains(Camera.reason))
            #expect(try camera.hasTold(.hardwareEncoderDead(reason: Camera.reason)))

            // The next stream since the machine's start.
            camera.reported(.ended(nil))
            try camera.waitUntil { try !camera.status().isStreamWanted }
            camera.goLive()
            try camera.waitUntil { try camera.state() == ApplianceState.liveInSoftware.name }
            camera.reportedStatus(encoder: "v4l2:/dev/video11")
            camera.reportedStatus(encoder: "v4l2:/dev/video11")
            try camera.waitUntil { try camera.state() == "live" }
            try camera.waitUntil { camera.read("boot/faults.txt").isEmpty }
            // The restart is not enabled.
            #expect(camera.read("state/restarts").isEmpty)
            try camera.end()
        }
    }

    @Test func machineRestartsOnlyWhenNothingIsLiveAndStartsNoStream() throws {
        try time.run {
            let camera = try Camera(board: #"{"name": "Bench", "restartForEncoder": true}"#)
            try camera.start()
            camera.goLive()
            camera.reported(.hardwareEncoderDead(reason: Camera.reason))
            try camera.waitUntil { camera.read("boot/faults.txt").contains(ApplianceFault.hardwareEncoder.meaning) }
            // Longer than the interval between two checks.
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(4_500))
            #expect(!camera.hasEnded)
            camera.reported(.ended(nil))
            try camera.waitUntil { camera.hasEnded }
            #expect(camera.read("state/restarts").hasPrefix("off "))
            #expect(camera.read("state/events").contains(EventCode.machineRestarting.name))

            // The stream was stopped and must stay stopped.
            try camera.write("device", #"{"camera": "synthetic", "startAtBoot": true}"#)
            try camera.start()
            try camera.waitUntil { try camera.hasTold(.streamStaysOff) }
            #expect(try !camera.status().isStreamWanted)
            #expect(camera.read("state/restarts").hasPrefix("none "))
            // A second restart would be too often.
            camera.goLive()
            camera.reported(.hardwareEncoderDead(reason: Camera.reason))
            camera.reported(.ended(nil))
            try camera.waitUntil { try camera.hasTold(.restartLimitReached(.hardwareEncoder)) }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(4_500))
            #expect(!camera.hasEnded)
            #expect(try camera.eventCount(ApplianceNotice.restartLimitReached(.hardwareEncoder)) == 1)
            try camera.end()
        }
    }
}
