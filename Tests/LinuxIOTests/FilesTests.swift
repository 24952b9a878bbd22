import Glibc
import LinuxIO
import Testing

/// A new directory that is removed with its files at the end.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/tallycam-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { remove(path + "/" + name) }
        remove(path)
    }

    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

@Suite struct FilesTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func replacesAFileAtomically() throws {
        let path = directory.path + "/nonce"
        try replaceFile(path, with: Array("first".utf8), permissions: 0o600)
        try replaceFile(path, with: Array("second".utf8), permissions: 0o600)
        #expect(try readFile(path, limit: 100) == Array("second".utf8))
        #expect(directory.names == ["nonce"])
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func leavesNoTemporaryFileWhenReplacingFails() throws {
        let path = directory.path + "/taken"
        #expect(mkdir(path, 0o755) == 0)
        #expect(throws: SystemCallError("rename", number: EISDIR, subject: path)) { try replaceFile(path, with: [1]) }
        #expect(directory.names == ["taken"])
    }

    /// Root could do it: /dev/null would become a regular file, and the file behind /dev/stdout would disappear.
    @Test func doesNotReplaceADeviceOrLinkThatAUserTyped() throws {
        let (pipe, link) = (directory.path + "/pipe", directory.path + "/stdout")
        #expect(mkfifo(pipe, 0o600) == 0 && symlink(directory.path + "/elsewhere", link) == 0)
        for path in [pipe, link] {
            let refusal = SystemCallError("replace", number: EEXIST, subject: "\(path), which is not a regular file")
            #expect(throws: refusal) { try replaceFile(path, with: [1], sparesOthers: true) }
        }
        #expect(throws: SystemCallError("replace", number: EISDIR, subject: directory.path)) {
            try replaceFile(directory.path, with: [1], sparesOthers: true)
        }
        #expect(directory.names == ["pipe", "stdout"])
        // For the program's own files, a pipe in their place is simply replaced.
        try replaceFile(pipe, with: [1])
        #expect(try readFile(pipe, limit: 10) == [1])
    }

    /// Leftovers of a power cut, and names that only look similar.
    @Test func findsTemporaryFilesLeftByAPowerCut() throws {
        let ours = [".events.txt.1.22.tmp", ".faults.txt.123.1.tmp"]
        let others = [
            ".faults.txt.123.tmp", ".faults.txt.123.x.tmp", ".faults.txt..1.tmp", ".notes.txt.1.1.tmp", "faults.txt",
            "faults.txt.1.1.tmp", ".faults.txt.1.1.tmp.bak", ".faults.txt.1.1.1.tmp", ".tmp",
        ]
        for name in ours + others { try replaceFile("\(directory.path)/\(name)", with: []) }
        let found = temporaryFiles(of: ["faults.txt", "events.txt"], in: directory.path)
        #expect(found.sorted() == ours.map { "\(directory.path)/\($0)" })
        #expect(temporaryFiles(of: ["faults.txt"], in: directory.path + "/none") == [])
        try synchronizeFileSystem(directory.path)
    }

    @Test func missingFileIsNamedInTheError() {
        let path = directory.path + "/none/stream.json"
        #expect(throws: SystemCallError("open", number: ENOENT, subject: path)) { try readFile(path, limit: 10) }
        let error = SystemCallError("open", number: ENOENT, subject: path)
        #expect(error.description == "open \(path): No such file or directory (ENOENT)")
        #expect(SystemCallError("ioctl", number: 4095).description == "ioctl: error 4095 (errno 4095)")
    }

    @Test func missingFolderIsReportedWithoutTheTemporaryName() {
        let path = directory.path + "/none/file"
        #expect(throws: SystemCallError("open", number: ENOENT, subject: path)) { try replaceFile(path, with: [1]) }
    }

    @Test func pipeIsNotReadAsAFile() {
        let path = directory.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        for (path, problem) in [
            (path, "\(path) is not a regular file"),
            (directory.path, "read \(directory.path): Is a directory (EISDIR)"),
        ] {
            #expect { try readRegularFile(path, limit: 10) } throws: { error in
                (error as? SystemCallError)?.fileProblem == problem
            }
        }
    }

    @Test func readsUpToTheLimit() throws {
        let path = directory.path + "/full"
        try replaceFile(path, with: [UInt8](repeating: 7, count: 200_000))
        #expect(try readFile(path, limit: 200_000).count == 200_000)
        let error = SystemCallError("read", number: EFBIG, subject: "\(path) (more than 199999 bytes)")
        #expect(throws: error) { try readFile(path, limit: 199_999) }
        #expect(throws: SystemCallError("read", number: EISDIR, subject: directory.path)) {
            try readFile(directory.path, limit: 10)
        }
    }

    @Test func readsFilesWithoutASize() throws {
        #expect(try readFile("/proc/self/comm", limit: 100).last == UInt8(ascii: "\n"))
        let path = directory.path + "/fifo"
        #expect(mkfifo(path, 0o600) == 0)
        let writer = try NamedThread("fifo writer") {
            let file = try? OwnedFileDescriptor(opening: path, flags: O_WRONLY)
            try? file?.writeAll([UInt8](repeating: 9, count: 100_000))
        }
        #expect(try readFile(path, limit: 1_000_000) == [UInt8](repeating: 9, count: 100_000))
        writer.join()
    }
}
