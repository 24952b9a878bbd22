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
            try camera.waitUntil { try camera.state() == "live in software" }
            let status = try camera.ask("status")
            #expect(status.contains("(10 blinks)") && status.contains(Camera.reason), "\(status)")
            try camera.waitUntil { camera.read("boot/faults.txt").contains("(10 blinks)") }
            let faults = camera.read("boot/faults.txt")
            for words in [
                Camera.reason, "in software", "power off and on", "\"restartForEncoder\": true in board.json",
            ] {
                #expect(faults.contains(words), "\(faults)")
            }
            #expect(try camera.ask("events 50").contains(EventCode.hardwareEncoderDead.meaning))

            // The next stream since the machine's start.
            camera.reported(.ended(nil))
            try camera.waitUntil { try camera.ask("status json").contains(#""isStreamWanted":false"#) }
            camera.goLive()
            try camera.waitUntil { try camera.state() == "live in software" }
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
            try camera.waitUntil { camera.read("boot/faults.txt").contains("by itself while nothing is live") }
            // Longer than the interval between two checks.
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(4_500))
            #expect(!camera.hasEnded)
            camera.reported(.ended(nil))
            try camera.waitUntil { camera.hasEnded }
            #expect(camera.read("state/restarts").hasPrefix("off "))
            #expect(camera.read("state/events").contains("machineRestarting (2007): the hardware encoder is dead"))

            // The stream was stopped and must stay stopped.
            try camera.write("device", #"{"camera": "synthetic", "startAtBoot": true}"#)
            try camera.start()
            try camera.waitUntil { try camera.ask("events 50").contains("nothing starts by itself") }
            #expect(try camera.ask("status json").contains(#""isStreamWanted":false"#))
            #expect(camera.read("state/restarts").hasPrefix("none "))
            // A second restart would be too often.
            camera.goLive()
            camera.reported(.hardwareEncoderDead(reason: Camera.reason))
            camera.reported(.ended(nil))
            try camera.waitUntil {
                try camera.ask("events 50").contains("itself once within an hour; not restarting again")
            }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(4_500))
            #expect(!camera.hasEnded)
            #expect(
                try camera.ask("events 50").split(separator: "\n").count { $0.contains("not restarting again") } == 1)
            try camera.end()
        }
    }
}
