import ApplianceLogic
import JSONText
import LinuxIO
import Media
import Settings
import StreamLogic

// What the device is doing, as text for people and as JSON for programs.
extension ApplianceRunner {
    private var networkText: String {
        guard let links else { return "not known" }
        let names = links.linksUp.sorted().joined(separator: ", ")
        return (links.hasDefaultRoute ? "up" : "no way out") + (names.isEmpty ? "" : " (\(names))")
    }

    func statusText(now: MediaTimestamp) -> String {
        var lines = ["state:    \(appliance.state.name)"]
        lines.append("stream:   \(files.stream?.destination ?? "none")")
        if let duration = summary.status?.liveDuration { lines.append("length:   \(StreamPage.clock(duration))") }
        lines.append("quality:  \(qualityText.dropLast())")
        if let status = summary.status { lines.append("frames:   \(status.framesText)") }
        let sources = summary.status.map { SourceSummary($0.counters, isMuted: $0.isMuted) }
        let name = summary.camera.map { "\($0), " } ?? ""
        if let camera = sources?.camera { lines.append("camera:   \(name)\(camera)") }
        if let microphone = sources?.microphone { lines.append("audio:    \(microphone)") }
        if let filters = summary.status?.counters.filters, !filters.isEmpty {
            lines.append("filters:  " + filters.map(\.text).joined(separator: ", "))
        }
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
            if let stream = files.stream { object.write("destination", stream.destination) }
            object.write("isNetworkUp", links?.hasDefaultRoute ?? false)
            object.write("linksUp", links?.linksUp.sorted() ?? [])
            if let point = summary.point { object.write("quality", point.qualityName) }
            if let status = summary.status { write(status, to: object) }
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

    private func write(_ status: StreamStatus, to object: borrowing JSONObjectWriter) {
        if let duration = status.liveDuration { object.write("liveSeconds", Int(duration.inSeconds)) }
        object.write("muted", status.isMuted)
        if let size = status.size {
            object.write("width", size.width)
            object.write("height", size.height)
        }
        object.write("targetBitsPerSecond", status.point.mediaBitrate.bitsPerSecond)
        object.write("videoFrames", status.counters.sentFrames)
        object.write("videoSkipped", status.counters.skippedFrames)
        object.write("videoDropped", status.counters.droppedFrames)
        object.write("videoDecimated", status.counters.decimatedFrames)
        object.write("framesPerSecond", (status.rates.videoFramesPerSecond * 10).rounded() / 10)
        object.write("bitsPerSecond", status.rates.total.bitsPerSecond)
        object.write("bufferedSeconds", (status.buffered.inSeconds * 100).rounded() / 100)
        object.write("encoder", status.encoder?.name ?? "none")
        if let camera = summary.camera { object.write("camera", camera) }
        object.writeObject("sources") { sources in
            for (name, value) in status.counters.sourceFields {
                switch value {
                case .integer(let number): sources.write(name, number)
                case .number(let number): sources.write(name, (number * 100).rounded() / 100)
                case .text(let text): sources.write(name, text)
                case .flag(let flag): sources.write(name, flag)
                case .texts(let texts): sources.write(name, texts)
                case .numbers(let values): sources.write(name, values.map { $0.map { ($0 * 100).rounded() / 100 } })
                }
            }
        }
    }
}
