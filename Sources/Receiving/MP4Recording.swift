import Bitstream
import Glibc
import LinuxIO
import Media
import Recording
import RecordingLogic
import StreamLogic

/// An MP4 file that grows while a publisher sends, by the writer of the device's own recordings. If the publisher changes its
/// headers, a new file starts.
final class MP4Recording: StreamRecording {
    let path: String
    private let overwrites: Bool
    private let nextPath: () -> String
    private var file: LinuxRecordingFile
    private var filePath: String
    /// `nil` until it is known whether there is video.
    private var assembler: RecordingAssembler?
    /// Media from before.
    private var undecided: [EncodedPacket] = []
    private var hasStarted = false

    /// A stream without video for this long has none.
    private static let patience = Duration.seconds(1)
    private static let longest = Duration.seconds(7 * 86_400)

    /// Creates the file, or empties it.
    /// - Parameters:
    ///   - overwrites: whether a non-empty file may be replaced.
    ///   - nextPath: of a file for the media after other headers.
    init(path: String, overwrites: Bool, nextPath: @escaping () -> String) throws {
        self.path = path
        self.overwrites = overwrites
        self.nextPath = nextPath
        filePath = path
        file = try Self.open(path, overwrites: overwrites)
    }

    private static func open(_ path: String, overwrites: Bool) throws -> LinuxRecordingFile {
        try FLVRecording.check(path: path, overwrites: overwrites)
        do {
            return try LinuxRecordingFile(path, flags: O_RDWR | O_CREAT | O_NONBLOCK | (overwrites ? O_TRUNC : 0))
        } catch {
            throw FLVRecording.failure(path, error)
        }
    }

    func append(_ tag: FLVTag) throws {
        let packet: EncodedPacket?
        do {
            packet = try tag.packet(base: .zero)
        } catch {
            throw StreamFailure(.recording, "\(filePath): \(error)")
        }
        guard let packet else { return }
        guard assembler == nil else { return try add([packet]) }
        undecided.append(packet)
        let first = undecided.first { !$0.isHeader }?.decodeTime ?? packet.decodeTime
        if packet.isVideo || packet.decodeTime - first >= Self.patience { try decide() }
    }

    private func decide() throws {
        guard assembler == nil else { return }
        assembler = RecordingAssembler(
            hasVideo: undecided.contains(where: \.isVideo), hasAudio: true, length: Self.longest, largestFile: .max)
        defer { undecided.removeAll() }
        try add(undecided)
    }

    func finish() throws {
        try decide()
        try perform(assembler?.end(clock: nil) ?? [])
    }

    private func add(_ packets: [EncodedPacket]) throws {
        for packet in packets { try perform(assembler?.add(.packet(packet), clock: nil) ?? []) }
    }

    private func perform(_ actions: [RecordingAssembler.Action]) throws {
        for action in actions {
            switch action {
            case .create(_, let steps):
                if hasStarted {
                    filePath = nextPath()
                    file = try Self.open(filePath, overwrites: overwrites)
                }
                hasStarted = true
                try perform(steps)
            case .append(let steps, _), .finish(let steps, _): try perform(steps)
            case .refuse(let error): throw StreamFailure(.recording, "recording to \(filePath) failed: \(error)")
            }
        }
    }

    private func perform(_ steps: [MP4FileStep]) throws {
        do {
            for step in steps { try file.perform(step) }
        } catch {
            // Its complete fragments can be played.
            assembler?.fileFailed()
            throw FLVRecording.failure(filePath, error)
        }
    }
}
