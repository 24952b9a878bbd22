import Glibc
import LinuxIO
import Settings

/// A JSON file written by people, and the result of reading it.
public struct SettingsFile: Sendable {
    /// Size limit of one file in bytes, for reading and for saving from the page. Real files have less than 4 kB.
    public static let sizeLimit = 64 * 1024

    public private(set) var bytes: [UInt8] = []
    /// `nil` if the file is missing or not JSON.
    public private(set) var json: JSONValue?
    /// Why there is no JSON; also `nil` for a missing file that is not required.
    public private(set) var fault: DescriptionFault?

    /// Reads the file. Never waits, and accepts only regular files.
    /// - Parameters:
    ///   - isRequired: whether a missing file is a fault.
    ///   - example: a complete correct file.
    public init(reading path: String, isRequired: Bool, example: String) {
        do {
            bytes = try readRegularFile(path, limit: Self.sizeLimit)
        } catch {
            guard error.number != ENOENT || isRequired else { return }
            fault = DescriptionFault(
                kind: error.number == ENOENT ? .missing : .syntax, keyPath: "", position: .start,
                problem: Self.problem(reading: error), example: example)
            return
        }
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            fault = error.fault(example: example)
        }
    }

    private static func problem(reading error: SystemCallError) -> String {
        switch error.number {
        case ENOENT: "the file is missing; README.txt in the same folder explains its contents"
        case EISDIR, EINVAL: "this is not a regular file; replace it with a text file"
        case EFBIG: "the file is too large; the limit is \(sizeLimit) bytes"
        default: "the file cannot be read: \(error.reason)"
        }
    }
}

/// All faults of a file named by a person, each with the file's name and the position.
public struct SettingsFileError: Error, Sendable {
    public let lines: [String]
}

/// A correct `stream.json`.
public struct StreamFile: Sendable {
    /// With the full path of `caFile`, which has not been checked.
    public let stream: StreamDescription
    public let keys: DescriptionKeys
    public let warnings: [DescriptionFault]
    /// As given by the caller.
    public let path: String

    /// Reads the file; if the path leads to a pipe, waits for its writer.
    public init(reading path: String) throws(SettingsFileError) {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path, limit: SettingsFile.sizeLimit)
        } catch {
            throw SettingsFileError(lines: ["\(path): cannot be read: \(error.reason)"])
        }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw SettingsFileError(lines: ["\(path):\(error.fault(example: StreamDescription.example))"])
        }
        try self.init(json, path: path)
    }

    /// - Parameter path: where `json` was read from.
    public init(_ json: JSONValue, path: String) throws(SettingsFileError) {
        let decoded = StreamDescription.decode(json)
        guard let stream = decoded.value, decoded.errors.isEmpty else {
            throw SettingsFileError(lines: decoded.faults.map { "\(path):\($0)" })
        }
        self.stream = stream.located(in: path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
        self.path = path
        keys = decoded.keys
        warnings = decoded.warnings
    }
}
