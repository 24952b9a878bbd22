import JSONText
import Media
import USBVideo

// What people and programs are shown of the webcam.
extension WebcamDuty {
    /// For programs.
    func write(to object: borrowing JSONObjectWriter) {
        object.write("state", problems.gadget == nil ? state.name : "failed")
        switch state {
        case .notConnected: break
        case .connected(let speed): object.write("speed", speed.rawValue)
        case .active(let speed, let choice):
            object.write("speed", speed.rawValue)
            object.write("format", choice.mode.coding.rawValue)
            object.write("width", choice.mode.size.width)
            object.write("height", choice.mode.size.height)
            object.write("framesPerSecond", (choice.framesPerSecond * 100).rounded() / 100)
        }
        if let problem = problems.gadget { object.write("reason", problem) }
        if let cameraProblem { object.write("cameraReason", cameraProblem) }
        if let microphoneProblem { object.write("microphoneReason", microphoneProblem) }
        let statistics = relay.sink?.statistics ?? WebcamStatistics()
        object.write("waitsForPress", waitsForPress)
        object.write("isStalled", isStalled)
        object.write("isRecorded", isRecorded)
        object.write("isMuted", relay.isMuted)
        object.write("isAgainstFile", isAgainstFile)
        object.write("sentFrames", statistics.sentFrames)
        object.write("lostFrames", statistics.lostFrames)
        object.write("sentBytes", statistics.sentBytes)
    }

    /// `nil` where it is no webcam, nor to be one by device.json.
    var text: String? {
        guard isWanted else { return isAgainstFile ? "off by a command, against device.json" : nil }
        if let problem = problems.gadget { return "none, \(problem)" }
        var words = waitsForPress ? "a program waits for a press of the button" : "\(state)"
        if let statistics = relay.sink?.statistics, statistics.sentFrames > 0 {
            words += "; \(statistics.sentFrames) frames sent, \(statistics.lostFrames) lost"
        }
        if isRecorded, !waitsForPress { words += "; a program records" }
        if let cameraProblem { words += "; \(cameraProblem)" }
        if isStalled { words += "; the computer takes no frames" }
        if relay.isMuted { words += "; muted" }
        if let microphoneProblem { words += "; no audio: \(microphoneProblem)" }
        if isAgainstFile { words += "; by a command, against device.json" }
        return words
    }
}
