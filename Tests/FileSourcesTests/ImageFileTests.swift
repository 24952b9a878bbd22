import DevicePorts
import FileSources
import LinuxIO
import Media
import MediaTestSupport
import Testing

@Suite struct ImageFileTests {
    private let directory: TemporaryDirectory
    private let stop: EventFD

    init() throws {
        directory = try TemporaryDirectory()
        stop = try EventFD()
    }

    /// An image of one color, made by ffmpeg.
    private func image(_ name: String, _ size: FrameSize, _ color: String) throws -> String {
        let path = directory.file(name)
        try FFmpeg.runProgram(
            [
                "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=\(color):s=\(size):d=1,format=rgba",
                "-frames:v", "1", path,
            ], log: directory.file("log"))
        return path
    }

    private func sample(_ frame: [UInt8], _ size: FrameSize, _ x: Int, _ y: Int) -> [UInt8] {
        let layout = FrameLayout(packed: .i420, size: size)
        let chroma = y / 2 * (size.width / 2) + x / 2
        return [
            frame[y * size.width + x], frame[layout.planes[1].offset + chroma], frame[layout.planes[2].offset + chroma],
        ]
    }

    /// (200, 64, 32) in BT.601 and BT.709.
    @Test(arguments: [
        ("a.png", FrameSize(width: 320, height: 240), [103, 93, 188]),
        ("a.jpg", FrameSize(width: 320, height: 240), [103, 93, 188]),
        ("a.png", FrameSize(width: 1280, height: 720), [94, 100, 189]),
    ])
    func wideImageIsFittedBetweenBlackBars(name: String, size: FrameSize, expected: [Int]) throws {
        let path = try image(name, FrameSize(width: 101, height: 33), "0xC84020")
        let file = try ImageFile(path)
        #expect(file.size == FrameSize(width: 101, height: 33))
        let frame = try file.frame(of: size)
        #expect(frame.count == size.pixelCount * 3 / 2)
        #expect(sample(frame, size, 0, 0) == [16, 128, 128])
        #expect(sample(frame, size, size.width - 1, size.height - 1) == [16, 128, 128])
        let middle = sample(frame, size, size.width / 2, size.height / 2)
        #expect(zip(middle, expected).allSatisfy { abs(Int($0) - $1) <= 2 }, "\(middle)")
        #expect(sample(frame, size, 0, size.height / 2)[0] > 60, "no bars at the sides")
    }

    /// Corners by luma: red, green, blue and white, starting at the top left. The numbers are the colors of each corner.
    @Test(arguments: [
        (1, [0, 1, 2, 3]), (2, [1, 0, 3, 2]), (3, [3, 2, 1, 0]), (4, [2, 3, 0, 1]), (5, [0, 2, 1, 3]),
        (6, [2, 0, 3, 1]), (7, [3, 1, 2, 0]), (8, [1, 3, 0, 2]),
    ])
    func jpegIsRotatedUpright(orientation: Int, corners: [Int]) throws {
        let plain = directory.file("plain.jpg")
        let color = "s=32x16:d=1"
        try FFmpeg.runProgram(
            [
                "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                "color=red:\(color)[a];color=lime:\(color)[b];color=blue:\(color)[c];color=white:\(color)[d];"
                    + "[a][b]hstack[e];[c][d]hstack[f];[e][f]vstack", "-frames:v", "1", plain,
            ], log: directory.file("log"))
        let bytes = try readFile(plain, limit: 1 << 20)
        let header: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let directory: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
        let exif = Array("Exif\0\0".utf8) + header + directory
        let segment: [UInt8] = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        let turned = Array(bytes.prefix(2)) + segment + Array(bytes.dropFirst(2))
        let file = try ImageFile(self.directory.write(turned, to: "turned.jpg"))
        let isTurned = orientation > 4
        #expect(file.size == FrameSize(width: isTurned ? 32 : 64, height: isTurned ? 64 : 32))
        // In its own size, and enlarged.
        for factor in [1, 3] {
            let size = FrameSize(width: factor * file.size.width, height: factor * file.size.height)
            let frame = try file.frame(of: size)
            let (right, bottom) = (size.width - 3, size.height - 3)
            let seen = [(2, 2), (right, 2), (2, bottom), (right, bottom)].map { x, y in
                let luma = Int(sample(frame, size, x, y)[0])
                return [81, 145, 41, 235].firstIndex { abs($0 - luma) <= 8 }
            }
            #expect(seen == corners, "\(size)")
        }
    }

    @Test func transparentPixelsAreBlack() throws {
        let path = try image("a.png", FrameSize(width: 64, height: 64), "0xFFFFFF@0")
        let size = FrameSize(width: 64, height: 64)
        #expect(sample(try ImageFile(path).frame(of: size), size, 32, 32) == [16, 128, 128])
    }

    @Test func imageIsRepeatedAtTheFrameRate() throws {
        let path = try image("a.png", FrameSize(width: 32, height: 32), "0xFFFFFF")
        let rate = FrameRate(framesPerSecond: 50)
        let source = try ImageSource(path, size: FrameSize(width: 64, height: 64), frameRate: rate, stop: stop)
        let first = try #require(try source.nextFrame())
        // A filter's change to one frame must not appear in the next.
        #expect(first.memory.modify { $0[64 * 32 + 32] = 7 })
        let second = try #require(try source.nextFrame())
        #expect(second.captureTime >= first.captureTime + rate.frameDuration)
        #expect(second.withBytes { $0[64 * 32 + 32] } > 230)
        #expect(source.colors == .bt601 && source.origin == "the image \(path)")
        stop.signal()
        let end = try source.nextFrame()
        #expect(end == nil)
    }

    @Test func otherKindsOfFilesAreNamed() throws {
        let flv = try directory.write(Array("FLV\u{1}\u{5}\0\0\0\u{9}\0\0\0\0".utf8), to: "a.flv")
        #expect(throws: FileSourceError.wrongKind(path: flv, wanted: .image, found: "an FLV file")) {
            try ImageFile(flv)
        }
        let mp4 = try directory.write(Array("\0\0\0\u{20}ftypisomxxxxxxxx".utf8), to: "a.mp4")
        #expect(
            "\(FileSourceError.wrongKind(path: mp4, wanted: .image, found: "an MP4 file"))".contains("movie:\(mp4)"))
        let json = FileSourceError.wrongKind(path: "a.json", wanted: .movie, found: "a JSON file")
        #expect("\(json)" == "a.json is not an MP4 movie: this is a JSON file")
        #expect(throws: FileSourceError.self) { try ImageFile(directory.file("missing.png")) }
        #expect(throws: FileSourceError.self) { try ImageFile(directory.path) }
        let fifo = try directory.makeFIFO("fifo")
        #expect(throws: FileSourceError.self) { try ImageFile(fifo) }
    }

    @Test func damagedImageIsAnError() throws {
        let path = try image("a.png", FrameSize(width: 64, height: 64), "0xC84020")
        let bytes = try readFile(path, limit: 1 << 20)
        for length in stride(from: 8, to: bytes.count, by: 7) {
            let cut = try directory.write(Array(bytes[..<length]), to: "cut.png")
            #expect(throws: FileSourceError.self) { try ImageFile(cut).frame(of: FrameSize(width: 64, height: 64)) }
        }
    }
}
