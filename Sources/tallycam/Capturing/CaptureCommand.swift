import DevicePorts
import Glibc
import JSONText
import LinuxIO
import Media

/// `tallycam capture`: takes pictures and gives each back unread, as an encoder that takes DMABUF does.
func runCapture(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam capture --video SOURCE [--frames N] [--dimension WxH] [--fps N] [--save FILE]"
    let options = [
        CommandLineOption("video", takes: "SOURCE", help: "as tallycam publish takes it"),
        CommandLineOption("frames", takes: "N", help: "how many pictures (default 30)"),
        CommandLineOption("dimension", takes: "WxH", help: "what to ask the camera for (default 640x480)"),
        CommandLineOption("fps", takes: "N", help: "what to ask the camera for (default 30)"),
        CommandLineOption("save", takes: "FILE", help: "write the pictures as they are; this reads them"),
    ]
    guard let parsed = try parseOptions(arguments, options, usage: usage) else { return .success }
    guard let count = Int(parsed["frames"] ?? "30"), (1...1_000_000).contains(count) else {
        throw CommandFailure.usage("--frames is a whole number from 1 to 1000000")
    }
    let asked = "size=\(parsed["dimension"] ?? "640x480"),fps=\(parsed["fps"] ?? "30")"
    guard let wanted = try CameraSettings(parsing: "x:,\(asked)", scheme: "x"), let size = wanted.size,
        let frameRate = wanted.frameRate
    else { throw CommandFailure.usage("--dimension is WxH and --fps a number") }
    let stop = try EventFD()
    let source: (any VideoSource)?
    do {
        source = try VideoInput(parsing: parsed["video"] ?? "libcamera").open(
            size: size, frameRate: frameRate, stop: stop
        ) { write(Array("\(Event($0).text ?? "")\n".utf8), to: STDERR_FILENO) }
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.media, code: -1301, "\(error)")
    }
    guard let source else { throw CommandFailure.usage("--video none gives no pictures") }
    var taken = TakenPictures()
    let file = try parsed["save"].map { try PictureFile($0) }
    while taken.count < count, let frame = try source.nextFrame() {
        taken.add(frame.captureTime, isShared: frame.dmabuf != nil)
        try file?.append(frame)
    }
    write(taken.report(of: source), to: STDOUT_FILENO)
    return taken.count == count && taken.disorders == 0 ? .success : .media
}

/// Raw pictures one behind the other.
private final class PictureFile {
    private let file: OwnedFileDescriptor

    init(_ path: String) throws {
        file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_TRUNC)
    }

    func append(_ frame: borrowing CapturedFrame) throws {
        try frame.withBytes { bytes throws(SystemCallError) in try file.writeAll(bytes) }
    }
}

/// What can be said about pictures without looking at them.
private struct TakenPictures {
    private(set) var count = 0
    /// Pictures that were not later than the one before.
    private(set) var disorders = 0
    private var shared = 0
    private var first: MediaTimestamp?
    private var last: MediaTimestamp?

    mutating func add(_ time: MediaTimestamp, isShared: Bool) {
        if let last, time <= last { disorders += 1 }
        first = first ?? time
        last = time
        count += 1
        if isShared { shared += 1 }
    }

    func report(of source: any VideoSource) -> [UInt8] {
        let statistics = source.statistics
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("format", "\(source.layout.format.fourCC)")
            object.write("size", "\(source.layout.size)")
            object.write("frames", count)
            object.write("captured", statistics.capturedFrames)
            object.write("dropped", statistics.droppedFrames)
            object.write("repeated", statistics.repeatedFrames)
            object.write("converted", statistics.convertedFrames)
            object.write("mapped", statistics.mappedFrames)
            object.write("dmabuf", shared)
            object.write("disorders", disorders)
            if let first, let last, count > 1 {
                object.write("framesPerSecond", Double(count - 1) / max(1e-9, (last - first).inSeconds))
            }
        }
    }
}
