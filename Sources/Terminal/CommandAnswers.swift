import Controls
import JSONText
import Media
import StreamLogic

// A stream's answers to commands, in the form shared by all surfaces.

public enum StreamQuestion: Hashable, Sendable {
    case status, settings, controls

    public func command(_ id: CommandID) -> PublisherCommand {
        switch self {
        case .status: .reportStatus(id)
        case .settings: .listSettings(id)
        case .controls: .listControls(id)
        }
    }
}

/// The form of an answer.
public enum AnswerForm: Hashable, Sendable {
    case text
    /// One line with a JSON value, for programs.
    case json
    /// Only the quality of a status.
    case quality
}

extension CommandOutcome {
    /// - Returns: whole lines without line ends; none for a refused command, which is reported as an event.
    public func lines(as form: AnswerForm) -> [String] {
        switch self {
        case .done(let lines): return lines
        case .refused: return []
        case .controls(let controls):
            guard form == .json else { return controls.map(\.description) }
            return Self.lines(controls.jsonLine)
        case .status(let status):
            switch form {
            case .text: return status.lines
            case .quality: return [status.qualityText]
            case .json: return Self.lines(status.jsonLine)
            }
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension StreamStatus {
    /// Lines about frames, sources and filters.
    /// - Parameter camera: the current camera; `nil` if it has no name.
    public func sourceLines(camera: String?) -> [String] {
        let sources = SourceSummary(encoded, isMuted: isMuted)
        var lines = ["frames:   \(framesText)"]
        let name = camera.map { "\($0), " } ?? ""
        if let text = sources.camera { lines.append("camera:   \(name)\(text)") }
        if let text = sources.microphone { lines.append("audio:    \(text)") }
        if !encoded.filters.isEmpty {
            lines.append("filters:  " + encoded.filters.map(\.text).joined(separator: ", "))
        }
        return lines
    }

    /// The line with the time since going live, and one for each of several targets.
    public var progressLines: [String] {
        (liveDuration.map { ["length:   \(StreamPage.clock($0))"] } ?? []) + targets.map { "target:   \($0.text)" }
    }

    private var stateName: String { state == .live && isPaused ? "paused" : state.rawValue }

    fileprivate var lines: [String] {
        var lines = ["state:    \(stateName)"]
        lines += progressLines
        lines.append("quality:  \(qualityText)")
        lines += sourceLines(camera: camera)
        return lines
    }

    fileprivate var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("state", stateName)
            object.write("quality", point.qualityName)
            write(to: object, camera: camera)
        }
    }

    /// Writes the members of a status that exist while a stream is live.
    /// - Parameter camera: as for `sourceLines`.
    public func write(to object: borrowing JSONObjectWriter, camera: String?) {
        if let liveDuration { object.write("liveSeconds", Int(liveDuration.inSeconds)) }
        if !targets.isEmpty {
            object.writeArray("targets") { array in for target in targets { array.writeObject { target.write(to: $0) } }
            }
        }
        object.write("muted", isMuted)
        if let size {
            object.write("width", size.width)
            object.write("height", size.height)
        }
        object.write("targetBitsPerSecond", point.mediaBitrate.bitsPerSecond)
        object.write("videoFrames", sent.sentFrames)
        object.write("videoSkipped", encoded.skippedFrames)
        object.write("videoDropped", sent.droppedFrames)
        object.write("videoDecimated", encoded.decimatedFrames)
        object.write("framesPerSecond", (rates.videoFramesPerSecond * 10).rounded() / 10)
        object.write("bitsPerSecond", rates.total.bitsPerSecond)
        object.write("bufferedSeconds", (buffered.inSeconds * 100).rounded() / 100)
        object.write("deliveredBytes", deliveredBytes)
        object.write("encoder", encoder?.name ?? "none")
        if let camera { object.write("camera", camera) }
        object.writeObject("sources") { sources in
            for (name, value) in encoded.sourceFields {
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

extension [ControlStatus] {
    /// An array with an object for each control, and a LF.
    public var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.arrayLine { array in
            for control in self { array.writeObject { control.write(to: $0) } }
        }
    }
}

extension ControlStatus {
    fileprivate func write(to object: borrowing JSONObjectWriter) {
        object.write("name", offer.name.rawValue)
        if let absence = offer.absence { return object.write("missing", absence) }
        if let value { object.write("value", "\(value)") }
        if let reported { object.write("reported", reported) }
        let unit = ControlDescription.of(offer.name).unit
        if !unit.isEmpty { object.write("unit", unit) }
        if let range = offer.range {
            object.write("minimum", range.lowerBound)
            object.write("maximum", range.upperBound)
        }
        if !offer.words.isEmpty {
            object.writeArray("choices") { array in
                for word in offer.words { array.write(word) }
            }
        }
    }
}

extension TargetReading {
    fileprivate func write(to object: borrowing JSONObjectWriter) {
        object.write("name", name)
        object.write("state", state.name)
        if case .failed(let reason) = state { object.write("reason", reason) }
        object.write("destination", destination)
        object.write("leading", isLeading)
        object.write("bufferedSeconds", (buffered.inSeconds * 100).rounded() / 100)
        object.write("videoFrames", sent.sentFrames)
        object.write("videoDropped", sent.droppedFrames)
        object.write("deliveredBytes", deliveredBytes)
    }
}
