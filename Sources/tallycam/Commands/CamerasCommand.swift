import AudioCapture
import DevicePorts
import Glibc
import JSONText
import LibcameraCapture
import LinuxIO
import MachineDevices
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
        throw CommandFailure.usage("--dimension cannot be combined with --socket: the running camera lists names only")
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
