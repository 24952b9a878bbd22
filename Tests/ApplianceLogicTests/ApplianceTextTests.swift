import StreamLogic
import Testing

@testable import ApplianceLogic

/// The texts of refusals and messages; all other tests compare the values.
@Suite struct ApplianceTextTests {
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
        (.noWaitingBrowser, "noWaitingBrowser", "no browser waits to be paired"),
        (
            .severalBrowsersWait(["17: Firefox"]), "severalBrowsersWait",
            "several browsers wait; give the code that yours shows: page allow CODE\n17: Firefox"
        ),
        (.wirelessSearch(reason: "it is off"), "wirelessSearch", "no search: it is off"),
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

    private static let notices: [(ApplianceNotice, String)] = [
        (.starts(version: "1.0.0"), "Tallycam 1.0.0 starts"), (.ends, "Tallycam ends"), (.poweringOff, "powering off"),
        (.restarting, "restarting"), (.pressed, "button pressed"), (.pressedTwice, "button pressed twice"),
        (.held, "button held: power-off"), (.filesChanged, "the files on the boot partition have changed"),
        (.networkSettingsChanged, "the network's settings have changed"),
        (.networkSettingsUnusable(reason: "full"), "the network's settings cannot be applied: full"),
        (.timeZone("Europe/Berlin"), "the time zone is now Europe/Berlin"),
        (.startPrevented(.camera), "cannot start: \(ApplianceFault.camera.meaning)"),
        (.crashedWithoutStream, "the program had crashed without a stream"),
        (
            .streamResumed(number: 2),
            "the program had crashed during a stream, which starts again: 2 of at most \(StreamResumption.most) times within "
                + "\(StreamResumption.window.components.seconds / 60) min"
        ),
        (.streamStaysOff, "the machine has restarted itself while nothing was live: nothing starts by itself"),
        (
            .restartLimitReached(.hardwareEncoder),
            "the machine has already restarted itself once within an hour; not restarting again"
        ),
        (.restartNotCounted, "not restarting the machine: the restart cannot be counted on the card"),
        (.waitingForClock, "waiting for the time of day"), (.clockSet, "the clock is set"),
        (.wireless(isConnected: true), "network: Wi-Fi connected"),
        (.wireless(isConnected: false), "network: Wi-Fi disconnected"),
        (.noPreview(reason: "no display"), "no preview: no display"),
        (.webcamWaits, "webcam: a program wants to see or hear; press the button to let it"),
        (.webcamMuted(true), "webcam: muted"), (.webcamMuted(false), "webcam: heard"),
        (.torch(isLit: true), "torch on"),
        (.torch(isLit: false), "torch off"), (.snapshotSaved(path: "/a.jpg"), "snapshot in /a.jpg"),
    ]

    @Test func eachNoticeHasAText() {
        for (notice, text) in Self.notices { #expect(notice.description == text) }
    }
}
