import SeededNumbers
import Testing

@testable import Filters

@Suite struct ColorCubeTests {
    /// Two points per side, with red and blue swapped.
    private static let lines = [
        "# by hand", "TITLE \"Swap\"", "", "LUT_3D_SIZE 2", "DOMAIN_MIN 0 0 0", "DOMAIN_MAX 1.0 1.0 1.0", "0 0 0",
        "0.0 0.0 1.0", "0 1 0", "  0\t1 1e0 ", "1 0 .0", "+1.0 0 10.e-1", "1 1 0", "1 1 1",
    ]

    private static func cube(_ lines: [String], lineEnd: String = "\n") throws(ColorCubeError) -> ColorCube {
        try ColorCube(parsing: Array(lines.joined(separator: lineEnd).utf8))
    }

    /// The error for the lines with one of them replaced, or with further lines appended.
    private static func refusal(_ line: Int, _ text: String) -> String {
        var changed = lines
        if line <= changed.count { changed[line - 1] = text } else { changed.append(text) }
        do throws(ColorCubeError) {
            _ = try cube(changed)
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test func filesAreReadWithEitherLineEnd() throws {
        for lineEnd in ["\n", "\r\n"] {
            let cube = try Self.cube(Self.lines + [""], lineEnd: lineEnd)
            #expect(cube.points == 2 && cube.least == [0, 0, 0] && cube.most == [1, 1, 1])
            #expect(cube.samples == [0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1])
        }
        let marked = [0xEF, 0xBB, 0xBF] + Array(Self.lines.joined(separator: "\n").utf8)
        #expect(try ColorCube(parsing: marked).points == 2)
    }

    @Test func domainMayBeWrittenAsARange() throws {
        var lines = Self.lines
        lines[4...5] = ["LUT_3D_INPUT_RANGE -0.5 2"]
        let cube = try Self.cube(lines)
        #expect(cube.least == [-0.5, -0.5, -0.5] && cube.most == [2, 2, 2])
    }

    @Test(
        arguments: [
            ("0.18", 0.18), ("-1e-2", -0.01), ("123456789012345678901234567890e-29", 1.234_567_9),
            ("000000000000000000001.5", 1.5),
            ("0.00000000000000000000000000000000001", 1e-35), ("1E+2", 100), ("1e-400", 0), (".5", 0.5), ("5.", 5),
            ("-0", 0),
        ] as [(String, Float)])
    func numbersMatchTheStandardLibrary(written: String, expected: Float) throws {
        var lines = Self.lines
        lines[6] = "\(written) 0 0"
        let read = try Self.cube(lines).samples[0]
        #expect(abs(read - expected) <= abs(expected) * 1e-6)
    }

    @Test(arguments: [
        (
            4, "LUT_1D_SIZE 1024",
            "line 4: LUT_1D_SIZE: one-dimensional tables are not supported; export the look as a 3D LUT"
        ),
        (4, "LUT_3D_SIZE 66", "line 4: LUT_3D_SIZE must be from 2 to 65, not \"66\""),
        (4, "LUT_3D_SIZE 9999999999999999999", "line 4: LUT_3D_SIZE must be from 2 to 65, not \"9999999999999999999\""),
        (4, "LUT_3D_SIZE -2", "line 4: LUT_3D_SIZE must be from 2 to 65, not \"-2\""),
        (4, "LUT_3D_SIZE", "line 4: LUT_3D_SIZE must be from 2 to 65, not \"\""),
        (4, "", "line 7: LUT_3D_SIZE is missing before the first point"),
        (3, "LUT_3D_SIZE 2", "line 4: LUT_3D_SIZE is given more than once"),
        (3, "GAMMA 2", "line 3: \"GAMMA\" is not a keyword of .cube files"),
        (3, "nan nan nan", "line 3: \"nan\" is not a keyword of .cube files"),
        (3, #"{"key":"1fe2-2b9c-secret"}"#, "line 3: this is not a line of a .cube file"),
        (5, "DOMAIN_MIN 0 0", "line 5: three numbers are expected"),
        (5, "DOMAIN_MIN 1 0 0", "line 14: the domain's minimum must be below its maximum, both within -1000 to 1000"),
        (
            6, "DOMAIN_MAX 1 1 1e30",
            "line 14: the domain's minimum must be below its maximum, both within -1000 to 1000"
        ),
        (6, "LUT_3D_INPUT_RANGE 1", "line 6: two numbers are expected"),
        (8, "0.0 0.0", "line 8: three numbers are expected"), (8, "0 0 0 0", "line 8: three numbers are expected"),
        (8, "0 nan 0", "line 8: three numbers are expected"), (8, "0 0 inf", "line 8: three numbers are expected"),
        (8, "0 0 1e39", "line 8: three numbers are expected"), (8, "0 0 1e", "line 8: three numbers are expected"),
        (8, "0 0 1e9999", "line 8: three numbers are expected"), (8, "0x1 0 0", "line 8: three numbers are expected"),
        (8, "0,0 0,0 1,0", "line 8: three numbers are expected"), (8, "- 0 0", "line 8: three numbers are expected"),
        (8, "", "line 14: the file ends after 7 of the 8 points that LUT_3D_SIZE calls for"),
        (8, "TITLE \"late\"", "line 8: TITLE comes after the first point"),
        (15, "0 0 0", "line 15: there are more than the 8 points that LUT_3D_SIZE calls for"),
        (1, String(repeating: "#", count: 252), "line 1: the line is longer than 250 bytes; is this a .cube file?"),
    ])
    func brokenFilesAreRefusedWithTheirLine(line: Int, text: String, expected: String) {
        #expect(Self.refusal(line, text) == expected)
    }

    @Test func fileWithoutLineEndsOrPointsIsRefused() {
        #expect(throws: ColorCubeError(line: 0, .missingSize)) { try ColorCube(parsing: []) }
        let empty = [UInt8](repeating: UInt8(ascii: "\n"), count: ColorCube.mostLines + 1)
        #expect(throws: ColorCubeError(line: ColorCube.mostLines + 1, .tooManyLines)) { try ColorCube(parsing: empty) }
        #expect(throws: ColorCubeError(line: 1, .tooLongLine)) {
            try ColorCube(parsing: [UInt8](repeating: 0, count: 1 << 20))
        }
    }

    @Test func truncatedFilesAreRefused() throws {
        let bytes = Array(Self.lines.joined(separator: "\n").utf8)
        for count in 0..<bytes.count {
            let start = Array(bytes.prefix(count))
            #expect(throws: ColorCubeError.self, "\(count) bytes") { try ColorCube(parsing: start) }
        }
    }

    /// Any file is either accepted as a complete table of finite numbers, or refused with an existing line.
    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 31)
        let bytes = Array(Self.lines.joined(separator: "\r\n").utf8)
        let signs = Array("0123456789.+-eE \t\r\n#\"LUT_3D_SIZEnainf".utf8)
        for _ in 0..<5000 {
            var changed = bytes
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.remove(at: place)
                default: changed.insert(signs[Int.random(in: 0..<signs.count, using: &random)], at: place)
                }
            }
            do throws(ColorCubeError) {
                let cube = try ColorCube(parsing: changed)
                #expect(cube.samples.count == 3 * cube.points * cube.points * cube.points)
                #expect(cube.samples.allSatisfy { $0.isFinite })
            } catch {
                #expect((1...changed.count { $0 == UInt8(ascii: "\n") } + 1).contains(error.line))
            }
        }
    }
}
