import ApplianceLogic
import JSONText
import Media
import StreamLogic
import StreamQuality
import Terminal
import WebcamService

/// The device's present state. Text for people and JSON for programs are two renderings of this value.
package struct ApplianceStatus {
    package let state: ApplianceState
    package var isStreamWanted = false
    package var isPaused = false
    /// The target in stream.json; `nil` while the file is unusable.
    package var destination: String?
    package var stream = StreamReading(status: nil, camera: nil, point: nil)
    package let quality: QualityReading
    package let webcam: WebcamStatus
    /// `nil` if the kernel does not tell.
    package var network: NetworkReading?
    /// Where browsers find the page; empty if it is not served.
    package var page: [String] = []
    package var recording = RecordingReading()
    /// `nil` while board.json is unusable.
    package var board: String?
    /// Since the program's start.
    package let runningTime: Duration
    package var faults: [ApplianceFault] = []
    /// What is wrong and how to repair it.
    package var details: [String] = []

    package init(state: ApplianceState, quality: QualityReading, webcam: WebcamStatus, runningTime: Duration) {
        self.state = state
        self.quality = quality
        self.webcam = webcam
        self.runningTime = runningTime
    }

    /// The stream's last report; empty without a stream.
    package struct StreamReading {
        let status: StreamStatus?
        /// The active camera; `nil` if it has no name.
        let camera: String?
        let point: OperatingPoint?

        package init(status: StreamStatus?, camera: String?, point: OperatingPoint?) {
            self.status = status
            self.camera = camera
            self.point = point
        }
    }

    /// The qualities of the present or next stream.
    package enum QualityReading {
        case sent(OperatingPoint, StreamStatus?)
        case next(start: String, lowest: String, highest: String, dimension: String)

        var text: String {
            switch self {
            case .sent(let point, let status): status?.qualityText ?? point.qualityName
            case .next(let start, let lowest, let highest, let dimension):
                "not live; starts at \(start), within \(lowest) to \(highest), \(dimension)"
            }
        }
    }

    package struct NetworkReading {
        let hasDefaultRoute: Bool
        let linksUp: Set<String>

        package init(hasDefaultRoute: Bool, linksUp: Set<String>) {
            self.hasDefaultRoute = hasDefaultRoute
            self.linksUp = linksUp
        }

        var text: String {
            let names = linksUp.isEmpty ? "" : " (\(linksUp.sorted().joined(separator: ", ")))"
            return (hasDefaultRoute ? "up" : linksUp.isEmpty ? "down" : "no default route") + names
        }
    }
}

extension ApplianceStatus {
    /// For people.
    package var lines: [String] {
        var lines = ["state:    \(state.name)"]
        lines.append("stream:   \(destination ?? "none")")
        lines += stream.status?.progressLines ?? []
        lines.append("quality:  \(quality.text)")
        lines += stream.status?.sourceLines(camera: stream.camera) ?? []
        if let text = webcam.text { lines.append("webcam:   \(text)") }
        lines.append("record:   \(recording.text)")
        lines.append("network:  \(network?.text ?? "not known")")
        if !page.isEmpty { lines.append("page:     \(page.joined(separator: ", "))") }
        lines.append("board:    \(board ?? "not known")")
        lines.append("running:  \(Int(runningTime.inSeconds)) s, version \(Program.version)")
        for fault in faults { lines.append("fault:    \(fault.meaning) (\(fault.blinkCount) blinks)") }
        lines += details.map { "detail:   \($0)" }
        return lines
    }

    /// For programs: one object followed by LF.
    package var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("state", state.name)
            object.write("version", Program.version)
            object.write("runningSeconds", Int(runningTime.inSeconds))
            object.write("isStreamWanted", isStreamWanted)
            object.write("paused", isPaused)
            if let destination { object.write("destination", destination) }
            object.write("isNetworkUp", network?.hasDefaultRoute ?? false)
            object.write("linksUp", network?.linksUp.sorted() ?? [])
            object.write("page", page)
            if let point = stream.point { object.write("quality", point.qualityName) }
            stream.status?.write(to: object, camera: stream.camera)
            if webcam.isWanted { object.writeObject("webcam") { webcam.write(to: $0) } }
            object.writeObject("recording") { recording.write(to: $0) }
            object.writeArray("faults") { array in
                for fault in faults {
                    array.writeObject { entry in
                        entry.write("blinks", fault.blinkCount)
                        entry.write("meaning", fault.meaning)
                    }
                }
            }
            object.write("details", details)
        }
    }
}

extension RecordingReading {
    fileprivate func write(to object: borrowing JSONObjectWriter) {
        object.write("state", state.name)
        if let file { object.write("file", file) }
        if let problem { object.write("problem", problem) }
        object.write("isDropping", isDropping)
    }
}
