import Glibc
import LinuxIO
import Settings

/// One of the JSON files that people write, as it was read.
public struct SettingsFile: Sendable {
    /// Bytes of one file.
    public static let sizeLimit = 1 << 20

    public private(set) var bytes: [UInt8] = []
    /// `nil` when the file is missing or no JSON.
    public private(set) var json: JSONValue?
    /// Why there is no JSON; `nil` for a missing file, too, where that is no fault.
    public private(set) var fault: DescriptionFault?

    /// Never waits, and takes regular files only.
    /// - Parameters:
    ///   - isRequired: whether it is a fault that the file is missing.
    ///   - example: a whole file that is right.
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
        case ENOENT: "the file is missing; README.txt beside it says what belongs into it"
        case EISDIR, EINVAL: "this is no regular file; put a text file in its place"
        case EFBIG: "the file is too large; it may have \(sizeLimit) bytes"
        default: "the file cannot be read: \(error.reason)"
        }
    }
}

/// Every fault of a file that a person has named, each with the file's name and its place.
public struct SettingsFileError: Error, Sendable {
    public let lines: [String]
}

/// A `stream.json` that is right.
public struct StreamFile: Sendable {
    /// With `caFile` found from anywhere; whether it can be used is not looked at.
    public let stream: StreamDescription
    public let keys: DescriptionKeys
    public let warnings: [DescriptionFault]
    /// As it was given.
    public let path: String

    /// Reads the file, or waits for the writer of the pipe that the path leads to.
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

    /// - Parameter path: where `json` was read.
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
