import LinuxIO

/// The lines of one of the project's documents, without empty ones.
/// - Parameter path: relative to the checkout, such as `docs/reference/controls.md`.
public func documentLines(_ path: String) throws -> [String] {
    let checkout = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
    let bytes = try readFile("/\(checkout)/\(path)", limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
}
