/// The snapshots that the camera keeps, by the names of the files in their folder: the newest ones, up to a number and a size.
/// Files with other names are somebody else's and left alone.
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
    /// With zeros before it, so that names sort as the snapshots were taken.
    private static let digitCount = 6

    /// The oldest first. A clock that nobody has set yet would mix them up: they are numbered.
    private let files: [(number: Int, file: File)]

    /// - Parameter files: all that are in the folder.
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

    /// Of the next snapshot.
    public var nextName: String {
        let digits = "\((files.last?.number ?? 0) + 1)"
        return Self.prefix + String(repeating: "0", count: max(0, Self.digitCount - digits.utf8.count)) + digits
            + Self.suffix
    }

    /// What the files of these names take together.
    public func byteCount(of names: [String]) -> Int {
        let names = Set(names)
        return files.reduce(0) { $0 + (names.contains($1.file.name) ? $1.file.byteCount : 0) }
    }

    /// The files that have to go for the next one, oldest first.
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
