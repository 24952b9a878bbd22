import ApplianceLogic
import JSONText
import Media
import StreamLogic
import StreamQuality
import Terminal
import WebcamService

/// The device's present state. Text for people and JSON for programs are two renderings of this value.
struct ApplianceStatus {
    let state: ApplianceState
    let isStreamWanted: Bool
    let isPaused: Bool
    /// The target in stream.json; `nil` while the file is unusable.
    let destination: String?
    let stream: StreamReading
    let quality: QualityReading
    let webcam: WebcamStatus
    /// `nil` if the kernel does not tell.
    let network: NetworkReading?
    /// `nil` while board.json is unusable.
    let board: String?
    /// Since the program's start.
    let runningTime: Duration
    let faults: [ApplianceFault]
    /// What is wrong and how to repair it.
    let details: [String]

    /// The stream's last report; empty without a stream.
    struct StreamReading {
        let status: StreamStatus?
        /// The active camera; `nil` if it has no name.
        let camera: String?
        let point: OperatingPoint?
    }

    /// The qualities of the present or next stream.
    enum QualityReading {
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

    struct NetworkReading {
        let hasDefaultRoute: Bool
        let linksUp: Set<String>

        var text: String {
            let names = linksUp.isEmpty ? "" : " (\(linksUp.sorted().joined(separator: ", ")))"
            return (hasDefaultRoute ? "up" : linksUp.isEmpty ? "down" : "no default route") + names
        }
    }
}

extension ApplianceStatus {
    /// For people.
    var lines: [String] {
        var lines = ["state:    \(state.name)"]
        lines.append("stream:   \(destination ?? "none")")
        lines += stream.status?.progressLines ?? []
        lines.append("quality:  \(quality.text)")
        lines += stream.status?.sourceLines(camera: stream.camera) ?? []
        if let text = webcam.text { lines.append("webcam:   \(text)") }
        lines.append("network:  \(network?.text ?? "not known")")
        lines.append("board:    \(board ?? "not known")")
        lines.append("running:  \(Int(runningTime.inSeconds)) s, version \(Program.version)")
        for fault in faults { lines.append("fault:    \(fault.meaning) (\(fault.blinkCount) blinks)") }
        lines += details.map { "detail:   \($0)" }
        return lines
    }

    /// For programs: one object followed by LF.
    var jsonLine: [UInt8] {
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
            if let point = stream.point { object.write("quality", point.qualityName) }
            stream.status?.write(to: object, camera: stream.camera)
            if webcam.isWanted { object.writeObject("webcam") { webcam.write(to: $0) } }
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

extension ApplianceStatus {
    init(of device: ApplianceDevice, now: MediaTimestamp) {
        let (appliance, files, summary) = (device.appliance, device.files, device.supervisor.summary)
        state = appliance.state
        isStreamWanted = appliance.wantsStream
        isPaused = appliance.isPaused
        destination = files.stream?.destination
        stream = StreamReading(status: summary.status, camera: summary.camera, point: summary.point)
        quality = QualityReading(of: device)
        webcam = device.webcam.status
        network = device.network.reading
        board = files.board?.name
        runningTime = now - device.start
        faults = appliance.faults
        details = appliance.faultBook.lines
    }
}

extension ApplianceStatus.QualityReading {
    init(of device: ApplianceDevice) {
        let (summary, file) = (device.supervisor.summary, device.files.device)
        if device.stream.isRunning, let point = summary.point {
            self = .sent(point, summary.status)
        } else {
            self = .next(
                start: file.startQuality, lowest: file.lowestQuality, highest: file.highestQuality,
                dimension: file.dimension)
        }
    }
}
