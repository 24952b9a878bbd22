import Glibc
import LinuxIO
import Recording
import RecordingLogic

/// The thread "page-disk", which reads recordings for the page: a disk may take any time. Used from the thread "page".
final class PageDisk {
    enum Report: Sendable {
        /// The answer to the connection of this number.
        case listed(UInt64, [UInt8])
        case opened(UInt64, RecordedFile)
        case missing(UInt64)
        case read(UInt64, [UInt8])
        /// - Parameter 1: the error.
        case failed(UInt64, String)
    }

    fileprivate enum Job: Sendable {
        case list(RecordingPlace, UInt64)
        case open(String, RecordingPlace, UInt64)
        case read(RecordedFile, Range<Int>, UInt64)
        case end
    }

    /// Files of a list. More do not help a person, and reading them takes long.
    private static let listLimit = 500

    let reports: Mailbox<Report>
    var place: RecordingPlace?
    private let jobs: Mailbox<Job>

    /// The thread is never joined, because it may hang as long as the disk does. It ends with its jobs.
    init() throws(SystemCallError) {
        let (jobs, reports) = (try Mailbox<Job>(), try Mailbox<Report>())
        self.jobs = jobs
        self.reports = reports
        _ = try NamedThread("page-disk", mayBlock: true) {
            NamedThread.lowerPriority()
            while true {
                var entries = [PollEntry(jobs.wakeup.fileDescriptor)]
                guard (try? poll(&entries, until: nil)) != nil else { return }
                for job in jobs.takeAll() {
                    guard let report = PageDisk.perform(job) else { return }
                    reports.send(report)
                }
            }
        }
    }

    deinit { jobs.send(.end) }

    func list(for id: UInt64) {
        guard let place else { return reports.send(.failed(id, "the camera has not read its files yet")) }
        jobs.send(.list(place, id))
    }

    func open(_ name: String, for id: UInt64) {
        guard let place else { return reports.send(.missing(id)) }
        jobs.send(.open(name, place, id))
    }

    func read(_ range: Range<Int>, of file: RecordedFile, for id: UInt64) { jobs.send(.read(file, range, id)) }

    // MARK: On its thread

    /// - Returns: `nil` at the end.
    private static func perform(_ job: Job) -> Report? {
        switch job {
        case .end: return nil
        case .list(let place, let id):
            do throws(SystemCallError) {
                let folder = folders(of: place).first { access($0, R_OK) == 0 } ?? ""
                guard !folder.isEmpty else { return .listed(id, Array(#"{"folder":"","files":[]}"#.utf8)) }
                return .listed(id, RecordingListing.json(try RecordingCatalog(folder), of: folder, limit: listLimit))
            } catch {
                return .failed(id, "\(error)")
            }
        case .open(let name, let place, let id):
            // Only names that the recorder makes.
            guard RecordingName(name) != nil else { return .missing(id) }
            let file = folders(of: place).lazy.compactMap { try? RecordedFile("\($0)/\(name)") }.first
            return file.map { .opened(id, $0) } ?? .missing(id)
        case .read(let file, let range, let id):
            do throws(SystemCallError) { return .read(id, try file.read(range)) } catch {
                return .failed(id, "\(error)")
            }
        }
    }

    private static func folders(of place: RecordingPlace) -> [String] {
        switch place {
        case .folder(let folder): return [folder]
        case .automatic(let media, let card):
            let sticks = (try? LinuxRecordingDisk().mountPoints(in: media)) ?? []
            return sticks.map(RecordingPlace.folder(onDisk:)) + [card]
        }
    }
}

/// An open recording. Read on the thread "page-disk"; the last owner closes it.
final class RecordedFile: Sendable {
    let byteCount: Int
    /// Another one when the contents change.
    let version: String
    private let descriptor: OwnedFileDescriptor

    init(_ path: String) throws(SystemCallError) {
        let descriptor = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { throw SystemCallError("fstat", subject: path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCallError("open", number: EINVAL, subject: path) }
        byteCount = Int(status.st_size)
        version = "\(status.st_ino)-\(status.st_size)-\(status.st_mtim.tv_sec)-\(status.st_mtim.tv_nsec)"
        self.descriptor = descriptor
    }

    /// - Returns: fewer bytes if the file has become shorter.
    func read(_ range: Range<Int>) throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = bytes.withUnsafeMutableBytes {
            pread(descriptor.rawValue, $0.baseAddress, $0.count, off_t(range.lowerBound))
        }
        guard count >= 0 else { throw SystemCallError("pread") }
        bytes.removeLast(range.count - count)
        return bytes
    }
}
