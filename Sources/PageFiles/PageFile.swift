import CPage

/// A file of the page, built into the program from Sources/CPage/packed.
public struct PageFile: Sendable {
    /// Such as "index.html".
    public let name: String
    /// In gzip's format (RFC 1952).
    public let packed: [UInt8]

    private init(_ file: cpage_file) {
        name = String(cString: file.name)
        packed = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    public static func all() -> [PageFile] {
        var files: [PageFile] = []
        while let file = cpage_file_at(files.count) { files.append(PageFile(file.pointee)) }
        return files
    }

    /// For a browser that cannot unpack.
    /// - Returns: `nil` if the file is damaged.
    public var unpacked: [UInt8]? { PageFiles.unpacked(packed) }

    public var mediaType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
