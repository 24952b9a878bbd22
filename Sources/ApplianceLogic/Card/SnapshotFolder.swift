/// The snapshots kept by the camera: the newest ones, up to a number and a total size. Files with other names in the
/// folder are not the camera's and are left alone.
public struct SnapshotFolder: Sendable {
    public struct Limits: Hashable, Sendable {
        public var count: Int
        public var byteCount: Int

        public init(count: Int, byteCount: Int) {
            self.count = count
            self.byteCount = byteCount
        }
    }

    public struct File: Hashable, Sendable {
        public let name: String
        public let byteCount: Int

        public init(name: String, byteCount: Int) {
            self.name = name
            self.byteCount = byteCount
        }
    }

    private static let prefix = "snapshot-"
    private static let suffix = ".jpg"
    /// Padded with zeros, so that sorting by name sorts by age.
    private static let digitCount = 6

    /// Oldest first. The files are numbered because dates could be wrong before the clock is set.
    private let files: [(number: Int, file: File)]

    /// - Parameter files: all files in the folder.
    public init(_ files: [File]) {
        self.files = files.compactMap { file in Self.number(of: file.name).map { ($0, file) } }
            .sorted { $0.number < $1.number }
    }

    private static func number(of name: String) -> Int? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard (digitCount...2 * digitCount).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(String(Substring(digits)))
    }

    /// Name of the next snapshot's file.
    public var nextName: String {
        let digits = "\((files.last?.number ?? 0) + 1)"
        return Self.prefix + String(repeating: "0", count: max(0, Self.digitCount - digits.utf8.count)) + digits
            + Self.suffix
    }

    /// Total size of the files with these names.
    public func byteCount(of names: [String]) -> Int {
        let names = Set(names)
        return files.reduce(0) { $0 + (names.contains($1.file.name) ? $1.file.byteCount : 0) }
    }

    /// The files to delete before the next one is written, oldest first.
    public func surplus(before byteCount: Int, limits: Limits) -> [String] {
        var count = files.count + 1
        var sum = files.reduce(byteCount) { $0 + $1.file.byteCount }
        var names: [String] = []
        for (_, file) in files where count > limits.count || sum > limits.byteCount {
            names.append(file.name)
            count -= 1
            sum -= file.byteCount
        }
        return names
    }
}
