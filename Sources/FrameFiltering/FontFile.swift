import CFreeType
import Filters
import LinuxIO

/// A font as its file has it, for as many renderers as like.
final class FontFile: Sendable {
    // Nobody writes to the bytes, and they stay as long as the object does.
    private let bytes: SharedPointer<UInt8>
    private let count: Int
    private let isOwned: Bool

    /// The one that is part of the program.
    static let builtIn = FontFile()

    private init() {
        var count = 0
        // For a pointer that is only read.
        bytes = SharedPointer(UnsafeMutablePointer(mutating: cfreetype_builtin_font(&count)))
        self.count = count
        isOwned = false
    }

    init(_ contents: [UInt8], _ path: String, _ filter: FilterID) throws(FilteringError) {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, contents.count))
        memory.initialize(from: contents, count: contents.count)
        bytes = SharedPointer(memory)
        count = contents.count
        isOwned = true
        var status: Int32 = 0
        guard let font = cfreetype_open(memory, count, &status) else {
            throw .unusableFont(filter, path: path, reason: Self.reason(status))
        }
        cfreetype_close(font)
    }

    deinit { if isOwned { bytes.pointer.deallocate() } }

    /// FreeType's numbers (fterrdef.h), as far as they are about a file.
    private static func reason(_ status: Int32) -> String {
        switch status {
        case 0, 0x40: "there is no memory for it"
        case 0x02: "its format is none that can be drawn in any size"
        default: "its data are broken (FreeType's error \(status))"
        }
    }

    /// For one thread. The font is the caller's to close; this object has to stay until then.
    func open() -> OpaquePointer? {
        var status: Int32 = 0
        return cfreetype_open(bytes.pointer, count, &status)
    }
}
