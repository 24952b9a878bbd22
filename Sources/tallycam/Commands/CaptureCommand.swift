import DevicePorts
import Glibc
import JSONText
import LinuxIO
import MachineDevices
import Media
import MediaPipeline
import StreamLogic
import Terminal
import VideoCapture

/// `tallycam capture`: takes frames and releases each one unread, like an encoder that uses DMABUF.
func runCapture(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam capture [OPTION...]"
    let options = [
        CommandLineOption("video", takes: "SOURCE", help: "source, as for tallycam publish (default libcamera)"),
        CommandLineOption("frames", takes: "N", help: "number of frames (default 30)"),
        CommandLineOption("dimension", takes: "WxH", help: "frame size to request (default 640x480)"),
        CommandLineOption("fps", takes: "N", help: "frame rate to request (default 30)"),
        CommandLineOption(
            "save", takes: "FILE", help: "write the raw frames to FILE; the processor then reads each frame"),
    ]
    guard let parsed = try parseOptions(arguments, options, usage: usage) else { return .success }
    guard let count = Int(parsed["frames"] ?? "30"), (1...1_000_000).contains(count) else {
        throw CommandFailure.usage("--frames must be a whole number from 1 to 1000000")
    }
    let asked = "size=\(parsed["dimension"] ?? "640x480"),fps=\(parsed["fps"] ?? "30")"
    guard let wanted = try CameraSettings(parsing: "x:,\(asked)", scheme: "x"), let size = wanted.size,
        let frameRate = wanted.frameRate
    else { throw CommandFailure.usage("--dimension must be WxH and --fps a number") }
    let source = try openSource(parsed["video"] ?? "libcamera", size: size, frameRate: frameRate)
    var taken = TakenFrames(file: try parsed["save"].map { try FrameFile($0) })
    while taken.count < count, try taken.take(from: source) {}
    try writeOutput(taken.report(of: source))
    return taken.count == count && taken.disorders == 0 ? .success : .media
}

private func openSource(_ text: String, size: FrameSize, frameRate: FrameRate) throws -> any VideoSource {
    let source: (any VideoSource)?
    do {
        source = try VideoInput(parsing: text).open(
            SourceWish(size: size, frameRate: frameRate), stop: try EventFD()
        ) {
            write(Array("\($0.text)\n".utf8), to: STDERR_FILENO)
        }
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw StreamFailure(.cameraUnavailable, "\(error)")
    }
    guard let source else { throw CommandFailure.usage("--video none provides no frames") }
    return source
}

/// Consecutive raw frames.
private final class FrameFile {
    private let file: OwnedFileDescriptor

    init(_ path: String) throws {
        file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_TRUNC)
    }

    /// - Returns: the error, if any.
    func append(_ frame: CapturedFrame) -> SystemCallError? {
        frame.withBytes { bytes in
            do throws(SystemCallError) {
                try file.writeAll(bytes)
                return nil
            } catch {
                return error
            }
        }
    }
}

/// Statistics of frames that do not require reading their samples.
private struct TakenFrames {
    let file: FrameFile?
    private(set) var count = 0
    /// Frames that were not later than the previous one.
    private(set) var disorders = 0
    private var shared = 0
    private var first: MediaTimestamp?
    private var last: MediaTimestamp?

    init(file: FrameFile?) { self.file = file }

    /// - Returns: false if the source has ended.
    mutating func take(from source: any VideoSource) throws -> Bool {
        guard let frame = try Self.nextFrame(of: source) else { return false }
        // The optimizer of Swift 6.0 crashes if a frame is live across a throwing call.
        if let problem = add(frame) { throw problem }
        return true
    }

    /// Reports a camera that does not start like a missing one.
    private static func nextFrame(of source: any VideoSource) throws -> CapturedFrame? {
        do {
            return try source.nextFrame()
        } catch {
            throw StreamFailure(.cameraUnavailable, "\(error)")
        }
    }

    private mutating func add(_ frame: CapturedFrame) -> SystemCallError? {
        let time = frame.captureTime
        if let last, time <= last { disorders += 1 }
        first = first ?? time
        last = time
        count += 1
        if frame.dmabuf != nil { shared += 1 }
        return file?.append(frame)
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
            object.write("startup", statistics.startupFrames)
            object.write("superseded", statistics.supersededFrames)
            object.write("repeated", statistics.repeatedFrames)
            object.write("decoded", statistics.decodedFrames)
            object.write("passes", statistics.passes)
            object.write("mapped", statistics.mappedFrames)
            object.write("dmabuf", shared)
            object.write("disorders", disorders)
            if let first, let last, count > 1 {
                object.write("framesPerSecond", Double(count - 1) / max(1e-9, (last - first).inSeconds))
            }
        }
    }
}
