import ApplianceLogic
import JSONText
import LinuxIO
import Media
import Settings
import StreamLogic
import Terminal

// What the device is doing, as text for people and as JSON for programs.
extension ApplianceRunner {
    private var networkText: String {
        guard let links else { return "not known" }
        return Self.networkText(hasDefaultRoute: links.hasDefaultRoute, linksUp: links.linksUp)
    }

    static func networkText(hasDefaultRoute: Bool, linksUp: Set<String>) -> String {
        let names = linksUp.isEmpty ? "" : " (\(linksUp.sorted().joined(separator: ", ")))"
        return (hasDefaultRoute ? "up" : linksUp.isEmpty ? "down" : "no default route") + names
    }

    func statusText(now: MediaTimestamp) -> String {
        var lines = ["state:    \(appliance.state.name)"]
        lines.append("stream:   \(files.stream?.destination ?? "none")")
        lines += summary.status?.lengthLines ?? []
        lines.append("quality:  \(qualityText.dropLast())")
        lines += summary.status?.sourceLines(camera: summary.camera) ?? []
        if let text = webcam.text { lines.append("webcam:   \(text)") }
        lines.append("network:  \(networkText)")
        lines.append("board:    \(files.board?.name ?? "not known")")
        lines.append("running:  \(Int((now - start).inSeconds)) s, version \(version)")
        for fault in appliance.faults { lines.append("fault:    \(fault.meaning) (\(fault.blinkCount) blinks)") }
        lines += appliance.faultBook.lines.map { "detail:   \($0)" }
        return lines.map { "\($0)\n" }.joined()
    }

    func statusJSON(now: MediaTimestamp) -> String {
        var writer = JSONLineWriter()
        let line = writer.line { object in
            object.write("state", appliance.state.name)
            object.write("version", version)
            object.write("runningSeconds", Int((now - start).inSeconds))
            object.write("isStreamWanted", appliance.wantsStream)
            object.write("paused", appliance.isPaused)
            if let stream = files.stream { object.write("destination", stream.destination) }
            object.write("isNetworkUp", links?.hasDefaultRoute ?? false)
            object.write("linksUp", links?.linksUp.sorted() ?? [])
            if let point = summary.point { object.write("quality", point.qualityName) }
            summary.status?.write(to: object, camera: summary.camera)
            if webcam.isWanted { object.writeObject("webcam") { webcam.write(to: $0) } }
            object.writeArray("faults") { array in
                for fault in appliance.faults {
                    array.writeObject { entry in
                        entry.write("blinks", fault.blinkCount)
                        entry.write("meaning", fault.meaning)
                    }
                }
            }
            object.write("details", appliance.faultBook.lines)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
