import CFreeType
import Filters
import LinuxIO

/// A font's file contents, shared by any number of renderers.
final class FontFile: Sendable {
    // The bytes are never written and live as long as this object.
    private let bytes: SharedPointer<UInt8>
    private let count: Int
    private let isOwned: Bool

    /// The font built into the program.
    static let builtIn = FontFile()

    private init() {
        var count = 0
        // The pointer is only read.
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

    /// FreeType's error numbers (fterrdef.h) that concern a file.
    private static func reason(_ status: Int32) -> String {
        switch status {
        case 0, 0x40: "there is no memory for it"
        case 0x02: "its format is not scalable"
        default: "its data is damaged (FreeType's error \(status))"
        }
    }

    /// Opens the font for one thread. The caller closes it and keeps this object alive until then.
    func open() -> OpaquePointer? {
        var status: Int32 = 0
        return cfreetype_open(bytes.pointer, count, &status)
    }
}
