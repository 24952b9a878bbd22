import AudioCapture
import DevicePorts
import Glibc
import JSONText
import LinuxIO
import Media
import V4L2Devices

/// `tallycam cameras`: V4L2's cameras.
func runCameras(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam cameras [--json]"
    let json = CommandLineOption("json", help: "one JSON object a line")
    guard let parsed = try parseOptions(arguments, [json], usage: usage) else { return .success }
    let webcams = (0..<64).map { "/dev/video\($0)" }.compactMap { try? V4L2CameraDescription(at: $0) }
    guard !webcams.isEmpty else {
        throw CommandFailure(.media, code: -1301, "there is no camera: \(cameraAbsenceReason())")
    }
    for entry in webcams.map(CameraListing.init) {
        if parsed.contains("json") { write(entry.json, to: STDOUT_FILENO) } else { print(entry.text) }
    }
    return .success
}

/// Why there is no camera, as far as the device nodes tell.
func cameraAbsenceReason() -> String {
    let paths: [String] = (0..<64).map { "/dev/video\($0)" }
    let nodes = paths.filter { access($0, F_OK) == 0 }
    if nodes.isEmpty {
        return "the kernel shows none (no /dev/video*); check the cable, and that the camera's driver is loaded"
    }
    if let forbidden = nodes.first(where: { access($0, R_OK | W_OK) != 0 }) {
        return "\(forbidden) may not be opened by this user; run as root or join the group video"
    }
    return "none of \(nodes.joined(separator: ", ")) captures pictures into single buffers"
}

/// A camera's entry in the list.
private struct CameraListing {
    /// As `--video` takes it.
    let source: String
    let name: String
    let location: String?
    let modes: [(format: FourCC, size: String, framesPerSecond: Int?)]
    let controls: [(name: String, kind: String, minimum: Double, maximum: Double, possible: String)]

    init(_ camera: V4L2CameraDescription) {
        source = "v4l2:\(camera.path)"
        name = camera.name
        location = nil
        modes = camera.modes.map { ($0.format, "\($0.size)", $0.framesPerSecond > 0 ? $0.framesPerSecond : nil) }
        controls = camera.controls.map {
            ($0.name, $0.kind.rawValue, Double($0.minimum), Double($0.maximum), $0.possibleValues)
        }
    }

    var text: String {
        var lines = ["\(source)  \(name)\(location.map { ", \($0)" } ?? "")"]
        for format in modes.map(\.format).reduce(into: [FourCC]()) { if !$0.contains($1) { $0.append($1) } } {
            let sizes = modes.filter { $0.format == format }
                .map { mode in mode.size + (mode.framesPerSecond.map { " at \($0) fps" } ?? "") }
            lines.append("  \(format): \(sizes.joined(separator: ", "))")
        }
        lines += controls.map { "  \($0.name)=\($0.possible)" }
        return lines.joined(separator: "\n")
    }

    var json: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("source", source)
            object.write("model", name)
            if let location { object.write("location", location) } else { object.writeNull("location") }
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
                        entry.write("minimum", control.minimum)
                        entry.write("maximum", control.maximum)
                    }
                }
            }
        }
    }
}

/// `tallycam microphones`.
func runMicrophones(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam microphones [--json]"
    let json = CommandLineOption("json", help: "one JSON object a line")
    guard let parsed = try parseOptions(arguments, [json], usage: usage) else { return .success }
    let microphones = Microphone.all()
    guard !microphones.isEmpty else {
        let reason =
            access("/dev/snd", F_OK) == 0
            ? "no sound card captures, or its node in /dev/snd may not be opened by this user (group audio)"
            : "the kernel shows no sound card (no /dev/snd)"
        throw CommandFailure(.media, code: -1302, "there is no microphone: \(reason)")
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
        write(line, to: STDOUT_FILENO)
    }
    return .success
}
