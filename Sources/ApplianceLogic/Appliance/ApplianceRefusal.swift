import Media
import Settings
import StreamLogic

/// Why the device does not do what was asked of it.
public enum ApplianceRefusal: Hashable, Sendable {
    /// The line is wrong, or the stream refused it.
    case command(CommandRefusal)
    /// More commands wait for an answer than the table holds.
    case tooManyCommands
    /// No answer has come in time; the command may still be done.
    case noAnswerYet
    case poweringOff
    case system(reason: String)

    // The stream.
    case notLive
    case nothingToPause
    case nothingToMute
    case streamEnded
    /// - Parameter details: what is wrong and how to repair it.
    case startPrevented(ApplianceFault, details: [String])

    // Devices.
    /// device.json names only one camera.
    case singleCamera
    case listUnderWay
    case doctorUnderWay
    case noFlashLED
    /// board.json names a flash LED that does not work.
    case flashLED(reason: String)
    case unknownTorchMode(String)
    case noWaitingProgram
    case noWaitingBrowser
    /// - Parameter 0: each one's code and name.
    case severalBrowsersWait([String])
    case wirelessSearch(reason: String)
    case webcam(reason: String)

    // Recordings.
    /// device.json forbids them.
    case recordingIsOff
    case nothingIsRecorded
    case eject(reason: String)

    // Snapshots.
    case snapshotsWaiting
    /// A separate snapshot would show the camera that a pause hides.
    case hiddenByPause
    case snapshot(SnapshotFailure)

    // The control socket.
    case commandTooLong(limit: Int)
    case notUTF8
    case tooManyClients
    case tooManyFollowers(limit: Int)
}

extension ApplianceRefusal {
    /// For programs; it never changes.
    public var name: String {
        switch self {
        case .command(let refusal): refusal.name
        case .tooManyCommands: "tooManyCommands"
        case .noAnswerYet: "noAnswerYet"
        case .poweringOff: "poweringOff"
        case .system: "system"
        case .notLive: "notLive"
        case .nothingToPause: "nothingToPause"
        case .nothingToMute: "nothingToMute"
        case .streamEnded: "streamEnded"
        case .startPrevented: "startPrevented"
        case .singleCamera: "singleCamera"
        case .listUnderWay: "listUnderWay"
        case .doctorUnderWay: "doctorUnderWay"
        case .noFlashLED: "noFlashLED"
        case .flashLED: "flashLED"
        case .unknownTorchMode: "unknownTorchMode"
        case .noWaitingProgram: "noWaitingProgram"
        case .noWaitingBrowser: "noWaitingBrowser"
        case .severalBrowsersWait: "severalBrowsersWait"
        case .wirelessSearch: "wirelessSearch"
        case .webcam: "webcam"
        case .recordingIsOff: "recordingIsOff"
        case .nothingIsRecorded: "nothingIsRecorded"
        case .eject: "eject"
        case .snapshotsWaiting: "snapshotsWaiting"
        case .hiddenByPause: "hiddenByPause"
        case .snapshot(let failure): failure.name
        case .commandTooLong: "commandTooLong"
        case .notUTF8: "notUTF8"
        case .tooManyClients: "tooManyClients"
        case .tooManyFollowers: "tooManyFollowers"
        }
    }
}

extension ApplianceRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .command(let refusal): refusal.description
        case .tooManyCommands: "too many commands are waiting for an answer; try again later"
        case .noAnswerYet: "there is no answer yet; see events for the result"
        case .poweringOff: "the camera is powering off"
        case .system(let reason), .flashLED(let reason): reason
        case .notLive: "not live; device.json sets what a stream starts with"
        case .nothingToPause: "not live: there is nothing to pause"
        case .nothingToMute: "not live: there is no audio to mute"
        case .streamEnded: "the stream has ended"
        case .startPrevented(let fault, let details): ([fault.meaning] + details).joined(separator: "\n")
        case .singleCamera: "there is one camera; cameras of device.json names several"
        case .listUnderWay: "an earlier list is still waiting for a driver"
        case .doctorUnderWay: "the doctor is at work; try again in a few seconds"
        case .noFlashLED: "board.json names no flash LED"
        case .unknownTorchMode(let word): Self.torchText(word)
        case .noWaitingProgram: "no program on a computer waits"
        case .noWaitingBrowser: "no browser waits to be paired"
        case .severalBrowsersWait(let browsers):
            (["several browsers wait; give the code that yours shows: page allow CODE"] + browsers).joined(
                separator: "\n")
        case .wirelessSearch(let reason): "no search: \(reason)"
        case .webcam(let reason): "no webcam: \(reason); it is tried again"
        case .recordingIsOff: "device.json says \"record\": \"off\""
        case .nothingIsRecorded: "nothing is being recorded"
        case .eject(let reason): reason
        case .snapshotsWaiting: "others are already waiting"
        case .hiddenByPause: "the stream is paused and interrupted: no frame may be shown"
        case .snapshot(let failure): "no snapshot: \(failure)"
        case .commandTooLong(let limit): "a command has at most \(limit) bytes"
        case .notUTF8: "the command is not UTF-8 text"
        case .tooManyClients: "too many clients: the oldest is disconnected"
        case .tooManyFollowers(let limit): "\(limit) clients already follow the events; end one of them"
        }
    }

    private static func torchText(_ word: String) -> String {
        let modes = DeviceDescription.Torch.allCases.map(\.rawValue)
        let meant = NameSuggestion.question(for: word, among: modes) ?? ""
        return "torch takes \(modes.joined(separator: ", "))\(meant)"
    }
}
