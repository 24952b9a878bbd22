import DevicePorts
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import SyntheticSources
import Testing

/// Writes to a FIFO from another thread, which opens it and closes it at the end.
func write(_ parts: [[UInt8]], toFIFO path: String) throws {
    _ = try NamedThread("writer") {
        guard let file = try? OwnedFileDescriptor(opening: path, flags: O_WRONLY) else { return }
        for part in parts { try? file.writeAll(part) }
    }
}

@Suite struct RawVideoInputTests {
    private let stop: EventFD
    private let directory: TemporaryDirectory
    private let rate = FrameRate(framesPerSecond: 240)
    private let time = VirtualTime()

    init() throws {
        stop = try EventFD()
        directory = try TemporaryDirectory()
    }

    private func open(
        _ path: String, _ format: PixelFormat = .i420, _ width: Int = 6, _ height: Int = 4, at rate: FrameRate? = nil
    ) throws(SourceError) -> RawVideoInput {
        try RawVideoInput(
            path: path, format: format, size: FrameSize(width: width, height: height), frameRate: rate ?? self.rate,
            stop: stop)
    }

    private func frames(_ count: Int, byteCount: Int = 36) -> [[UInt8]] {
        var random = SeededGenerator(seed: 3)
        return (0..<count).map { _ in random.bytes(byteCount) }
    }

    /// All frames of a source, with their times.
    private func all(_ source: RawVideoInput) throws -> (frames: [[UInt8]], times: [MediaTimestamp]) {
        var frames: [[UInt8]] = []
        var times: [MediaTimestamp] = []
        while let frame = try source.nextFrame() {
            frames.append(bytes(frame))
            times.append(frame.captureTime)
        }
        return (frames, times)
    }

    @Test(arguments: [(PixelFormat.i420, 6, 4, 36), (.nv12, 6, 4, 36), (.i420, 5, 3, 27), (.nv12, 5, 3, 27)])
    func filePlaysAtItsRate(format: PixelFormat, width: Int, height: Int, byteCount: Int) throws {
        try time.run {
            let frames = frames(8, byteCount: byteCount)
            let path = try directory.write(Array(frames.joined()), to: "a.yuv")
            let source = try open(path, format, width, height)
            #expect(source.layout.byteCount == byteCount)
            let before = MonotonicClock.now()
            let (given, times) = try all(source)
            #expect(given == frames)
            let start = try #require(times.first)
            #expect(start >= before)
            #expect(times.map { $0 - start } == (0..<8).map { rate.offset(ofFrame: $0) })
            #expect(source.endingNote == "\(path) ended after 8 frames")
            #expect(source.origin == "the raw video in \(path)")
            #expect(MonotonicClock.now() >= start + rate.offset(ofFrame: 7))
        }
    }

    @Test func incompleteFrameIsReported() throws {
        let path = try directory.write(Array(frames(3).joined().dropLast(10)), to: "a.yuv")
        let source = try open(path)
        #expect(try all(source).frames.count == 2)
        let note = "\(path) ended after 2 frames; 26 of 36 bytes of another one are left out"
        #expect(source.endingNote == note)
        // Asking again changes nothing.
        #expect(try all(source).frames.isEmpty)
        #expect(source.endingNote == note)
    }

    @Test func fifoWaitsForItsWriter() throws {
        try time.run {
            let path = try directory.makeFIFO("fifo")
            let source = try open(path)
            let frames = frames(3)
            let stream = Array(frames.joined())
            let before = MonotonicClock.now()
            try write([Array(stream[..<10]), Array(stream[10..<50]), Array(stream[50...]), [1, 2]], toFIFO: path)
            let (given, times) = try all(source)
            #expect(given == frames)
            #expect(times == times.sorted())
            #expect(times.allSatisfy { $0 >= before && $0 <= MonotonicClock.now() })
            #expect(source.endingNote == "\(path) ended after 3 frames; 2 of 36 bytes of another one are left out")
        }
    }

    @Test func pipeWrittenAtOncePlaysAtItsRate() throws {
        try time.run {
            let path = try directory.makeFIFO("fifo")
            let source = try open(path)
            let frames = frames(6)
            try write([Array(frames.joined())], toFIFO: path)
            let (given, times) = try all(source)
            #expect(given == frames)
            let start = try #require(times.first)
            #expect(times.map { $0 - start } == (0..<6).map { rate.frameDuration * $0 })
            #expect(MonotonicClock.now() >= start + rate.frameDuration * 5)
        }
    }

    @Test func pipeWithoutDataRepeatsItsLastFrame() throws {
        let path = try directory.makeFIFO("fifo")
        let source = try open(path)
        // Opening does not wait, because the reader exists. Writes one frame and part of the next.
        let writer = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_NONBLOCK)
        let frames = frames(2)
        try writer.writeAll(frames[0] + frames[1][..<10])
        var times: [MediaTimestamp] = []
        for _ in 0..<4 {
            let frame = try #require(try taken(source))
            #expect(frame.bytes == frames[0])
            times.append(frame.time)
        }
        // Not at once, because writers are uneven; then at the source's rate.
        #expect(times[1] - times[0] >= .milliseconds(199))
        #expect(times[2] - times[1] == rate.frameDuration)
        #expect(times[3] - times[2] == rate.frameDuration)
        try writer.writeAll(Array(frames[1][10...]))
        var last = frames[0]
        var lastTime = times[3]
        while last == frames[0] {
            let frame = try #require(try taken(source))
            #expect(frame.time > lastTime, "what came before the pause follows the frames that were repeated")
            (last, lastTime) = (frame.bytes, frame.time)
        }
        #expect(last == frames[1], "what had come of it before was kept")
    }

    @Test func slowPipeIsNotLateBeforeItsOwnInterval() throws {
        try time.run {
            let path = try directory.makeFIFO("fifo")
            let source = try open(path, at: FrameRate(framesPerSecond: 2))
            let writer = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_NONBLOCK)
            try writer.writeAll(frames(1)[0])
            let first = try #require(try taken(source))
            let again = try #require(try taken(source))
            #expect(again.time - first.time >= .milliseconds(749))
        }
    }

    private func taken(_ source: RawVideoInput) throws -> (bytes: [UInt8], time: MediaTimestamp)? {
        guard let frame = try source.nextFrame() else { return nil }
        return (bytes(frame), frame.captureTime)
    }

    @Test func incompletePipeInputIsAnError() throws {
        let path = try directory.makeFIFO("fifo")
        let source = try open(path)
        try write([[1, 2, 3]], toFIFO: path)
        #expect(throws: SourceError.tooShort(path: path, byteCount: 3, needed: 36)) {
            _ = try source.nextFrame() == nil
        }
    }

    @Test func stopEndsTheWaitForAWriter() throws {
        let source = try open(try directory.makeFIFO("fifo"))
        let stop = stop
        _ = try NamedThread("stop") { stop.signal() }
        let hasEnded = try source.nextFrame() == nil
        #expect(hasEnded)
        #expect(source.endingNote == nil)
    }

    @Test func reportsWhyAFileCannotBeOpened() throws {
        let missing = directory.file("none.yuv")
        #expect(
            throws: SourceError.cannotRead(path: missing, SystemCallError("open", number: ENOENT, subject: missing))
        ) {
            try open(missing)
        }
        #expect(throws: SourceError.cannotRead(path: directory.path, SystemCallError("read", number: EISDIR))) {
            try open(directory.path)
        }
        let short = try directory.write([UInt8](repeating: 0, count: 35), to: "short.yuv")
        #expect(throws: SourceError.tooShort(path: short, byteCount: 35, needed: 36)) { try open(short) }
        #expect("\(SourceError.tooShort(path: short, byteCount: 35, needed: 36))".contains("check size and format"))
    }
}
