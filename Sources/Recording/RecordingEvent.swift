import Bitstream
import LinuxIO
import Media
import RecordingLogic

/// An event of the recorder.
public enum RecordingEvent: Hashable, Sendable {
    case stateChanged(RecordingSession.State)
    case fileStarted(path: String)
    case fileFinished(path: String, RecordingAssembler.RecordedFile, byteCount: Int)
    /// The file ends here. Its complete fragments are finished when the folder is opened again.
    case fileFailed(path: String, RecordingFailure)
    /// Nothing can be recorded until the stream's headers change.
    case mediaRefused(RecordingFailure)
    /// A file that a power cut or a failed disk had left.
    case repaired(path: String, frameCount: Int, duration: Duration, lostByteCount: Int)
    /// A file without any complete fragment was removed.
    case removedEmpty(path: String)
    case repairFailed(path: String, SystemCallError)
    /// The oldest recordings were removed for new ones.
    case removedOldest(paths: [String])
    /// The disk is too slow: whole GOPs are missing from here on.
    case droppingStarted
    case droppingEnded(RecordingBuffer.Loss)
    /// A call has not returned for a while. The thread that makes it hangs with it.
    case stalled(DiskCall, after: Duration)
    case stallEnded(DiskCall, after: Duration)
    /// A disk cannot be recorded on; another place is used.
    case diskUnusable(RecordingFailure)
    /// The disk may be pulled out.
    /// - Parameter path: where it was mounted.
    case ejected(path: String)
    /// - Parameter 0: `nil` if no disk is mounted.
    case ejectFailed(SystemCallError?)
}

extension RecordingEvent {
    init(_ repair: MP4RecordingRepair, of path: String) {
        self = .repaired(
            path: path, frameCount: repair.frameCount, duration: repair.duration, lostByteCount: repair.lostByteCount)
    }
}

/// A call that the disk is answering.
public struct DiskCall: Hashable, Sendable {
    /// As in its manual page.
    public let name: String
    public let path: String

    init(_ name: String, _ path: String) {
        self.name = name
        self.path = path
    }
}

extension RecordingEvent {
    /// For people.
    public var text: String {
        switch self {
        case .stateChanged(.off): "recording is off"
        case .stateChanged(.opening): "recording: reading the folder"
        case .stateChanged(.recording): "recording"
        case .stateChanged(.waitingForDisk(let failure)): "recording waits for a disk: \(failure)"
        case .stateChanged(.failed(let failure)): "recording failed: \(failure)"
        case .fileStarted(let path): "recording to \(path)"
        case .fileFinished(let path, let file, let byteCount):
            "recorded \(path): \(file.frameCount) frames, \(byteCount / 1000) kB"
        case .fileFailed(let path, let failure): "the recording \(path) is cut off: \(failure)"
        case .mediaRefused(let failure): "the stream cannot be recorded: \(failure)"
        case .repaired(let path, let frameCount, _, let lost):
            "repaired \(path): \(frameCount) frames, \(lost) bytes of an incomplete part removed"
        case .removedEmpty(let path): "removed \(path), which contained nothing"
        case .repairFailed(let path, let error): "could not repair \(path): \(error)"
        case .removedOldest(let paths): "removed the oldest recordings: \(paths.joined(separator: ", "))"
        case .droppingStarted: "the disk is too slow for the recording: dropping"
        case .droppingEnded(let loss):
            "recording again; \(loss.gopCount) GOPs (\(loss.frameCount) frames) are missing"
        case .stalled(let call, let time): "\(call.name) \(call.path) has not returned for \(time)"
        case .diskUnusable(let failure): "recording elsewhere than on a disk that cannot be used: \(failure)"
        case .ejected(let path): "\(path) may be pulled out"
        case .ejectFailed(let error):
            error.map { "the disk cannot be ejected: \($0)" } ?? "there is no disk to eject"
        case .stallEnded(let call, let time): "\(call.name) \(call.path) returned after \(time)"
        }
    }
}
