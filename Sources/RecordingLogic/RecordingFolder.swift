import Media

/// A recording's name: `000123_20261126T133905Z.mp4`. The number orders recordings whatever the clock does. FAT allows all
/// characters. The journal beside it has the same name and another ending.
public struct RecordingName: Hashable, Comparable, Sendable {
    public let number: Int
    /// Without ending.
    public let stem: String

    /// - Parameter secondsSince1970: when the recording starts; `nil` if the clock is not set.
    public init(number: Int, secondsSince1970: Int64?) {
        self.number = number
        let digits = "\(number)"
        let padded = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
        let time = secondsSince1970.map { CalendarTime(secondsSince1970: $0) }
        let text = time.map { String($0.text.filter { $0 != "-" && $0 != ":" }) } ?? "noclock"
        stem = "\(padded)_\(text)"
    }

    /// - Parameter file: the name of a file.
    /// - Returns: `nil` unless it is a recording's.
    public init?(_ file: String) {
        guard file.hasSuffix(".mp4"), let name = Self(stem: String(file.dropLast(4))) else { return nil }
        self = name
    }

    /// Of a journal.
    public init?(journal file: String) {
        guard file.hasSuffix(".jsonl"), let name = Self(stem: String(file.dropLast(6))) else { return nil }
        self = name
    }

    private init?(stem: String) {
        let parts = stem.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, (6...9).contains(parts[0].utf8.count), let number = Int(parts[0]), number >= 0,
            parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            parts[1] == "noclock"
                || parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x54 || $0 == 0x5A })
        else { return nil }
        self.number = number
        self.stem = stem
    }

    public var file: String { stem + ".mp4" }
    public var journal: String { stem + ".jsonl" }

    public static func < (left: Self, right: Self) -> Bool { (left.number, left.stem) < (right.number, right.stem) }
}

/// The recordings in a folder, the oldest first.
public struct RecordingFolder: Hashable, Sendable {
    public struct File: Hashable, Sendable {
        public let name: RecordingName
        public var byteCount: Int
        /// `nil` if it is not known: it counts as a whole file.
        public var duration: Duration?

        public init(_ name: RecordingName, byteCount: Int, duration: Duration? = nil) {
            self.name = name
            self.byteCount = byteCount
            self.duration = duration
        }
    }

    /// Size and free bytes of a file system.
    public struct Space: Hashable, Sendable {
        public var byteCount: Int
        public var freeByteCount: Int

        public init(byteCount: Int, freeByteCount: Int) {
            self.byteCount = byteCount
            self.freeByteCount = freeByteCount
        }
    }

    /// Bytes that recordings leave free for everything else on the disk.
    public static let reserve = 32 << 20
    /// Room for the first seconds of a file.
    public static let leastRoom = 8 << 20
    private static let largestNumber = 999_999_999

    public private(set) var files: [File]

    public init(_ files: [File]) { self.files = files.sorted { $0.name < $1.name } }

    public var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }

    /// The name of the next recording.
    public func nextName(secondsSince1970: Int64?) -> RecordingName {
        let last = files.last?.name.number ?? 0
        return RecordingName(number: last >= Self.largestNumber ? 1 : last + 1, secondsSince1970: secondsSince1970)
    }

    /// A file was created, grew or was finished.
    public mutating func changed(_ file: File) {
        if let index = files.lastIndex(where: { $0.name == file.name }) {
            files[index] = file
        } else {
            files.append(file)
        }
    }

    public mutating func removed(_ name: RecordingName) { files.removeAll { $0.name == name } }

    /// The files to remove, the oldest first, so that a file can be written.
    /// - Parameters:
    ///   - byteCount: expected size of what is written.
    ///   - open: the file that is being written, which stays.
    /// - Returns: `nil` if even that makes too little room, or if everything is kept.
    public func surplus(
        before byteCount: Int, on space: Space, open: RecordingName? = nil, settings: RecordingSettings
    ) -> [RecordingName]? {
        let most = space.byteCount / 100 * settings.share
        var total = self.byteCount
        var free = space.freeByteCount
        var length = files.reduce(Duration.zero) { $0 + ($1.duration ?? settings.length) }
        let longest = settings.minutes.map { Duration.seconds(60 * $0) }
        func fits() -> Bool {
            total + byteCount <= most && free - byteCount >= Self.reserve
                && longest.map { length + (open == nil ? settings.length : .zero) <= $0 } ?? true
        }
        var names: [RecordingName] = []
        for file in files where file.name != open {
            if fits() { break }
            if settings.keepsAll { return nil }
            names.append(file.name)
            total -= file.byteCount
            free += file.byteCount
            length -= file.duration ?? settings.length
        }
        // A limit shorter than one file still allows one.
        let hasRoom = total + byteCount <= most && free - byteCount >= Self.reserve
        return hasRoom ? names : nil
    }
}
