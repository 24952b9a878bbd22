import JSONText
import Media
import USBVideo

/// The webcam's present state.
package struct WebcamStatus {
    /// Whether device.json or a command wants a webcam.
    package let isWanted: Bool
    /// Whether a command overrides device.json.
    let isAgainstFile: Bool
    let state: WebcamState
    /// Why there is no gadget.
    let problem: String?
    /// Why the computer sees nothing new.
    let cameraProblem: String?
    /// Why the computer hears nothing.
    let microphoneProblem: String?
    let waitsForPress: Bool
    let isStalled: Bool
    let isRecorded: Bool
    let isMuted: Bool
    /// `nil` if there is no gadget.
    let statistics: WebcamStatistics?

    package init(_ duty: WebcamDuty) {
        isWanted = duty.isWanted
        isAgainstFile = duty.isAgainstFile
        state = duty.state
        problem = duty.problems.gadget
        cameraProblem = duty.cameraProblem
        microphoneProblem = duty.microphoneProblem
        waitsForPress = duty.waitsForPress
        isStalled = duty.isStalled
        isRecorded = duty.isRecorded
        isMuted = duty.relay.isMuted
        statistics = duty.relay.sink?.statistics
    }

    /// For programs.
    package func write(to object: borrowing JSONObjectWriter) {
        object.write("state", problem == nil ? state.name : "failed")
        switch state {
        case .notAttached: break
        case .attached(let speed): object.write("speed", speed.rawValue)
        case .active(let speed, let choice):
            object.write("speed", speed.rawValue)
            object.write("format", choice.mode.coding.rawValue)
            object.write("width", choice.mode.size.width)
            object.write("height", choice.mode.size.height)
            object.write("framesPerSecond", (choice.framesPerSecond * 100).rounded() / 100)
        }
        if let problem { object.write("reason", problem) }
        if let cameraProblem { object.write("cameraReason", cameraProblem) }
        if let microphoneProblem { object.write("microphoneReason", microphoneProblem) }
        object.write("waitsForPress", waitsForPress)
        object.write("isStalled", isStalled)
        object.write("isRecorded", isRecorded)
        object.write("isMuted", isMuted)
        object.write("isAgainstFile", isAgainstFile)
        object.write("sentFrames", statistics?.sentFrames ?? 0)
        object.write("lostFrames", statistics?.lostFrames ?? 0)
        object.write("sentBytes", statistics?.sentBytes ?? 0)
    }

    /// For people; `nil` if there is no webcam, and device.json wants none.
    package var text: String? {
        guard isWanted else { return isAgainstFile ? "off: a command overrides device.json" : nil }
        if let problem { return "none, \(problem)" }
        var words = waitsForPress ? "a program is waiting: press the button to allow it" : "\(state)"
        if let statistics, statistics.sentFrames > 0 {
            words += "; \(statistics.sentFrames) frames sent, \(statistics.lostFrames) lost"
        }
        if isRecorded, !waitsForPress { words += "; a program is recording" }
        if let cameraProblem { words += "; \(cameraProblem)" }
        if isStalled { words += "; the computer accepts no frames" }
        if isMuted { words += "; muted" }
        if let microphoneProblem { words += "; no audio: \(microphoneProblem)" }
        if isAgainstFile { words += "; a command overrides device.json" }
        return words
    }
}
