import Media

/// A look from a `.cube` file (Adobe, Cube LUT Specification 1.0): the output color for each point of a grid of red,
/// green and blue.
public final class ColorCube: Sendable {
    /// Points per side. Grading programs write 17, 33 or 65.
    public static let pointCounts = 2...65
    /// Size limit of a file in bytes: one with 65 points per side has 275,000 lines of about 28 bytes.
    public static let largestFile = 16 << 20
    static let longestLine = 250
    /// Including points, comments and empty lines.
    static let mostLines = 300_000

    /// Points per side.
    public let points: Int
    /// The colors of the first and the last point: red, green and blue.
    public let least: [Float]
    public let most: [Float]
    /// Red, green and blue of each point; the red coordinate varies fastest.
    public let samples: [Float]

    init(points: Int, least: [Float], most: [Float], samples: [Float]) {
        self.points = points
        self.least = least
        self.most = most
        self.samples = samples
    }

    /// The look that changes nothing.
    public static let identity = ColorCube(
        points: 2, least: [0, 0, 0], most: [1, 1, 1],
        samples: [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1])

    /// - Parameter bytes: the file's contents. Lines end with LF or CRLF.
    public convenience init(parsing bytes: [UInt8]) throws(ColorCubeError) {
        var reader = ColorCubeReader()
        var number = 0
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while start < bytes.count {
            number += 1
            guard number <= Self.mostLines else { throw ColorCubeError(line: number, .tooManyLines) }
            // Limit the search, since a file of another kind may have no line ends at all.
            let limit = min(bytes.count, start + Self.longestLine + 2)
            let end = bytes[start..<limit].firstIndex(of: UInt8(ascii: "\n")) ?? limit
            guard end - start <= Self.longestLine + 1 else { throw ColorCubeError(line: number, .tooLongLine) }
            do throws(ColorCubeError.Reason) {
                try reader.read(bytes[start..<end])
            } catch {
                throw ColorCubeError(line: number, error)
            }
            start = end + 1
        }
        do throws(ColorCubeError.Reason) {
            let (points, least, most, samples) = try reader.finish()
            self.init(points: points, least: least, most: most, samples: samples)
        } catch {
            throw ColorCubeError(line: number, error)
        }
    }
}

/// Why a file is not a usable `.cube` file.
public struct ColorCubeError: Error, Hashable, Sendable {
    public enum Reason: Error, Hashable, Sendable {
        case tooManyLines
        case tooLongLine
        /// - Parameter word: as written.
        case unknownKeyword(String)
        case repeated(String)
        /// A keyword after the first point.
        case lateKeyword(String)
        case oneDimensional
        /// - Parameter written: as written.
        case unusableSize(String)
        case missingSize
        case notThreeNumbers
        case notTwoNumbers
        /// A domain with its ends in the wrong order, narrower than 0.001, or extending beyond 1000.
        case emptyDomain
        case tooManyPoints(Int)
        case tooFewPoints(Int, expected: Int)
    }

    /// From 1; the last line if something is missing.
    public let line: Int
    public let reason: Reason

    init(line: Int, _ reason: Reason) {
        self.line = line
        self.reason = reason
    }
}

extension ColorCubeError: CustomStringConvertible {
    public var description: String { "line \(max(1, line)): \(reason)" }
}

extension ColorCubeError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooManyLines: "there are more than \(ColorCube.mostLines) lines"
        case .tooLongLine: "the line is longer than \(ColorCube.longestLine) bytes; is this a .cube file?"
        case .unknownKeyword(let word):
            // A file passed by mistake, such as stream.json, may contain secrets.
            word.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F }
                ? "\(quoted(word)) is not a keyword of .cube files" : "this is not a line of a .cube file"
        case .repeated(let keyword): "\(keyword) is given more than once"
        case .lateKeyword(let keyword): "\(keyword) comes after the first point"
        case .oneDimensional:
            "LUT_1D_SIZE: one-dimensional tables are not supported; export the look as a 3D LUT"
        case .unusableSize(let written):
            "LUT_3D_SIZE must be from \(ColorCube.pointCounts.lowerBound) to \(ColorCube.pointCounts.upperBound), "
                + "not \(quoted(written))"
        case .missingSize: "LUT_3D_SIZE is missing before the first point"
        case .notThreeNumbers: "three numbers are expected"
        case .notTwoNumbers: "two numbers are expected"
        case .emptyDomain: "the domain's minimum must be below its maximum, both within -1000 to 1000"
        case .tooManyPoints(let expected): "there are more than the \(expected) points that LUT_3D_SIZE calls for"
        case .tooFewPoints(let count, let expected):
            "the file ends after \(count) of the \(expected) points that LUT_3D_SIZE calls for"
        }
    }
}
