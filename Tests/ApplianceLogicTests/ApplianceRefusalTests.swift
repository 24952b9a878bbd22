import StreamLogic
import Testing

@testable import ApplianceLogic

/// The name and the text of each reason; all other tests compare the reasons themselves.
@Suite struct ApplianceRefusalTests {
    private static let refusals: [(ApplianceRefusal, String, String)] = [
        (.command(.notStarted), "notStarted", "the stream has not started"),
        (.tooManyCommands, "tooManyCommands", "too many commands are waiting for an answer; try again later"),
        (.noAnswerYet, "noAnswerYet", "there is no answer yet; see events for the result"),
        (.poweringOff, "poweringOff", "the camera is powering off"),
        (.system(reason: "no thread"), "system", "no thread"),
        (.notLive, "notLive", "not live; device.json sets what a stream starts with"),
        (.nothingToPause, "nothingToPause", "not live: there is nothing to pause"),
        (.nothingToMute, "nothingToMute", "not live: there is no audio to mute"),
        (.streamEnded, "streamEnded", "the stream has ended"),
        (
            .startPrevented(.camera, details: ["it is unplugged"]), "startPrevented",
            "\(ApplianceFault.camera.meaning)\nit is unplugged"
        ),
        (.singleCamera, "singleCamera", "there is one camera; cameras of device.json names several"),
        (.listUnderWay, "listUnderWay", "an earlier list is still waiting for a driver"),
        (.doctorUnderWay, "doctorUnderWay", "the doctor is at work; try again in a few seconds"),
        (.noFlashLED, "noFlashLED", "board.json names no flash LED"),
        (.flashLED(reason: "no such line"), "flashLED", "no such line"),
        (.unknownTorchMode("dim"), "unknownTorchMode", "torch takes off, on, live, auto"),
        (.unknownTorchMode("lve"), "unknownTorchMode", "torch takes off, on, live, auto; did you mean live?"),
        (.noWaitingProgram, "noWaitingProgram", "no program on a computer waits"),
        (.webcam(reason: "it is taken"), "webcam", "no webcam: it is taken; it is tried again"),
        (.snapshotsWaiting, "snapshotsWaiting", "others are already waiting"),
        (.hiddenByPause, "hiddenByPause", "the stream is paused and interrupted: no frame may be shown"),
        (.snapshot(.streamEnded), "streamEnded", "no snapshot: the stream has ended"),
        (.commandTooLong(limit: 4095), "commandTooLong", "a command has at most 4095 bytes"),
        (.notUTF8, "notUTF8", "the command is not UTF-8 text"),
        (.tooManyClients, "tooManyClients", "too many clients: the oldest is disconnected"),
        (
            .tooManyFollowers(limit: 4), "tooManyFollowers", "4 clients already follow the events; end one of them"
        ),
    ]

    @Test func eachRefusalHasANameAndAText() {
        for (refusal, name, text) in Self.refusals {
            #expect(refusal.name == name && refusal.description == text)
        }
    }

    @Test func pauseOfAnInterruptedStreamIsExplained() {
        #expect("\(PauseNotice.already(true))" == "the stream is paused already")
        #expect("\(PauseNotice.already(false))" == "the stream is not paused")
        #expect(
            "\(PauseNotice.forNextStream(true))" == "paused: the stream is interrupted and will return paused")
        #expect(
            "\(PauseNotice.forNextStream(false))"
                == "no longer paused: the stream is interrupted and will return with the camera")
    }
}
