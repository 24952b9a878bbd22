import AudioCapture
import DevicePorts
import Glibc
import JSONText
import LibcameraCapture
import LinuxIO
import Media
import StreamLogic
import Terminal
import V4L2Devices

/// `tallycam cameras`: libcamera's cameras, then V4L2's other ones.
func runCameras(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam cameras [OPTION...]"
    let options = [
        CommandLineOption("json", help: "print one JSON object per line"),
        CommandLineOption("dimension", takes: "WxH", help: "frame size to report on (default 640x480)"),
        askedSocketOption,
    ]
    guard let parsed = try parseOptions(arguments, options, usage: usage) else { return .success }
    guard !parsed.contains("socket") else { return try askForList("cameras", parsed) }
    let wanted = try CameraSettings(parsing: "x:,size=\(parsed["dimension"] ?? "640x480")", scheme: "x")
    guard let size = wanted?.size else { throw CommandFailure.usage("--dimension must be WxH") }
    let cameras = try libcamerasCameras(configuredFor: size)
    let webcams = V4L2CameraDescription.all { write(Array("note: \($0)\n".utf8), to: STDERR_FILENO) }
    guard !cameras.isEmpty || !webcams.isEmpty else {
        throw StreamFailure(.cameraUnavailable, "no camera found: \(CameraAbsence().reason)")
    }
    if let note = CameraAbsence().note { write(Array("note: \(note)\n".utf8), to: STDERR_FILENO) }
    let listing = cameras.map(CameraListing.init) + webcams.map(CameraListing.init)
    for entry in listing {
        if parsed.contains("json") { try writeOutput(entry.json) } else { print(entry.text) }
    }
    return .success
}

private let askedSocketOption = CommandLineOption(
    "socket", takes: "FILE", help: "ask the running camera at this socket, which also\nreports what is in use")

/// The running camera's answer: what device.json may name.
private func askForList(_ name: String, _ arguments: CommandLineArguments) throws -> ExitStatus {
    guard !arguments.contains("dimension") else {
        throw CommandFailure.usage("--dimension does not go with --socket: the running camera lists names only")
    }
    return try ask(name + (arguments.contains("json") ? " json" : ""), arguments)
}

/// - Returns: an empty list if libcamera finds no camera that it supports.
private func libcamerasCameras(configuredFor size: FrameSize) throws -> [CameraDescription] {
    do {
        return try CameraSystem.shared().cameras(configuredFor: size, FrameRate(framesPerSecond: 30))
    } catch {
        if case .none = error { return [] }
        throw StreamFailure(.cameraUnavailable, "\(error)")
    }
}

private struct CameraListing {
    /// Same form as for `--video`.
    let source: String
    let name: String
    let location: String?
    /// libcamera's id.
    let id: String?
    /// For all modes together, if the individual modes do not have rates.
    let frameRates: ClosedRange<Double>?
    let modes: [(format: FourCC, size: String, framesPerSecond: Int?)]
    let controls: [Control]
    /// The frame size that the ranges apply to; `nil` for all sizes.
    var rangesAt: FrameSize?
    /// Why the ranges are not the camera's own.
    var rangesProblem: String?

    struct Control {
        let name: String
        let kind: String
        /// `nil` if it is not a single number.
        let range: (minimum: Double, maximum: Double)?
        let possible: String
        var choices: [String] = []
        /// Number of values it takes; `nil` for any number.
        var count: Int? = 1
    }

    init(_ camera: CameraDescription) {
        source = "libcamera:\(camera.id)"
        name = camera.model
        id = camera.id
        location = camera.location.map { "\($0)" }
        frameRates = camera.frameRates
        switch camera.ranges {
        case .unconfigured: break
        case .configured(let size): rangesAt = size
        case .unknown(let problem): rangesProblem = "\(problem)"
        }
        modes = camera.modes.map { mode in
            let size = mode.smallest == mode.largest ? "\(mode.largest)" : "\(mode.smallest)-\(mode.largest)"
            return (mode.format, size, nil)
        }
        controls = camera.controls.map {
            Control(
                name: $0.name, kind: $0.kind.rawValue, range: $0.range, possible: $0.possibleValues,
                choices: $0.choices.map(\.name), count: $0.count)
        }
    }

    init(_ camera: V4L2CameraDescription) {
        source = "v4l2:\(camera.path)"
        name = camera.name
        id = nil
        location = nil
        frameRates = nil
        modes = camera.modes.map { ($0.format, "\($0.size)", $0.framesPerSecond > 0 ? $0.framesPerSecond : nil) }
        controls = camera.controls.map {
            Control(
                name: $0.name, kind: $0.kind.rawValue, range: (Double($0.minimum), Double($0.maximum)),
                possible: $0.possibleValues)
        }
    }

    var text: String {
        var lines = ["\(source)  \(name)\(location.map { ", \($0)" } ?? "")"]
        for format in modes.map(\.format).reduce(into: [FourCC](), { if !$0.contains($1) { $0.append($1) } }) {
            let sizes = modes.filter { $0.format == format }
                .map { mode in mode.size + (mode.framesPerSecond.map { " at \($0) fps" } ?? "") }
            lines.append("  \(format): \(sizes.joined(separator: ", "))")
        }
        if let rangesAt { lines.append("  at \(rangesAt):") }
        if let rangesProblem { lines.append("  ranges unknown, these are libcamera's widest: \(rangesProblem)") }
        if let frameRates {
            let rates = [frameRates.lowerBound, frameRates.upperBound].map { fixed($0, decimals: 1) }
            lines.append("  \(rates[0]) to \(rates[1]) frames per second")
        }
        lines += controls.map { "  \($0.name)=\($0.possible)" }
        return lines.joined(separator: "\n")
    }

    var json: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("source", source)
            if let id { object.write("id", id) } else { object.writeNull("id") }
            object.write("model", name)
            if let location { object.write("location", location) } else { object.writeNull("location") }
            if let rangesAt { object.write("rangesAt", "\(rangesAt)") } else { object.writeNull("rangesAt") }
            if let rangesProblem { object.write("rangesProblem", rangesProblem) }
            if let frameRates {
                object.write("slowestFPS", frameRates.lowerBound)
                object.write("fastestFPS", frameRates.upperBound)
            }
            object.writeArray("modes") { list in
                for mode in modes {
                    list.writeObject { entry in
                        entry.write("format", "\(mode.format)")
                        entry.write("size", mode.size)
                        if let rate = mode.framesPerSecond { entry.write("fps", rate) }
                    }
                }
            }
            object.writeArray("controls") { list in
                for control in controls {
                    list.writeObject { entry in
                        entry.write("name", control.name)
                        entry.write("type", control.kind)
                        if let range = control.range {
                            entry.write("minimum", range.minimum)
                            entry.write("maximum", range.maximum)
                        } else {
                            entry.writeNull("minimum")
                            entry.writeNull("maximum")
                        }
                        entry.write("possible", control.possible)
                        if let count = control.count {
                            entry.write("count", count)
                        } else {
                            entry.writeNull("count")
                        }
                        if control.choices.isEmpty { return }
                        entry.writeArray("values") { list in for choice in control.choices { list.write(choice) } }
                    }
                }
            }
        }
    }
}

/// `tallycam microphones`.
func runMicrophones(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam microphones [OPTION...]"
    let json = CommandLineOption("json", help: "print one JSON object per line")
    guard let parsed = try parseOptions(arguments, [json, askedSocketOption], usage: usage) else { return .success }
    guard !parsed.contains("socket") else { return try askForList("microphones", parsed) }
    let microphones = Microphone.all()
    guard !microphones.isEmpty else {
        throw StreamFailure(.microphoneUnavailable, "no microphone found: \(Microphone.absence)")
    }
    for microphone in microphones {
        guard parsed.contains("json") else {
            print("alsa:\(microphone.device)  \(microphone.name)")
            continue
        }
        var writer = JSONLineWriter()
        let line = writer.line { object in
            object.write("source", "alsa:\(microphone.device)")
            object.write("name", microphone.name)
        }
        try writeOutput(line)
    }
    return .success
}
