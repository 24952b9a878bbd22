import Bitstream
import LinuxIO
import RecordingLogic

/// Where recordings are written. Every call may take any time, and is made on the thread `recording`.
public protocol RecordingDisk: Sendable {
    /// The paths below a folder at which a disk is mounted, in order.
    func mountPoints(in folder: String) throws(SystemCallError) -> [String]
    /// - Parameter path: where it is mounted. Everything that was written is on the disk afterwards.
    func unmount(_ path: String) throws(SystemCallError)
    /// Creates the folder if its parent exists.
    func prepare(_ folder: String) throws(SystemCallError)
    func recordings(in folder: String) throws(SystemCallError) -> [RecordingFolder.File]
    func space(of folder: String) throws(SystemCallError) -> RecordingFolder.Space
    /// Creates a file, which must not exist.
    func create(_ path: String) throws(SystemCallError) -> any RecordingFile
    /// Opens a file to be repaired.
    func open(_ path: String) throws(SystemCallError) -> any RecordingFile
    /// Makes new and removed names in the folder lasting.
    func synchronize(_ folder: String) throws(SystemCallError)
    /// Removes a file. A missing file does not count as an error.
    func remove(_ path: String) throws(SystemCallError)
    /// Appends to a small file.
    /// - Parameter creates: whether it may be missing.
    func append(_ bytes: [UInt8], to path: String, creates: Bool) throws(SystemCallError)
}

/// An open file. The last owner closes it.
public protocol RecordingFile: AnyObject {
    var byteCount: Int { get throws(SystemCallError) }
    /// - Throws: also if the file ends before.
    func read(at offset: Int, count: Int) throws(SystemCallError) -> [UInt8]
    func perform(_ step: MP4FileStep) throws(SystemCallError)
}
