import CPage

/// A file of the page, built into the program from Sources/CPage/page.
public struct PageFile: Sendable {
    /// Such as "index.html".
    public let name: String
    public let bytes: [UInt8]
    /// The same in gzip's format; `nil` if that is not smaller.
    public let gzip: [UInt8]?

    private init(_ file: cpage_file) {
        name = String(cString: file.name)
        bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        gzip = gzipped(bytes).flatMap { [count = bytes.count] in $0.count < count ? $0 : nil }
    }

    /// Compresses all files, which takes tens of milliseconds.
    public static func all() -> [PageFile] {
        var files: [PageFile] = []
        while let file = cpage_file_at(files.count) { files.append(PageFile(file.pointee)) }
        return files
    }

    public var mediaType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        case "png": "image/png"
        default: "application/octet-stream"
        }
    }
}
