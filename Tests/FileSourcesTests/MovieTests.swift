import DevicePorts
import FileSources
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Testing

/// Movies made by ffmpeg, with a frame rate that keeps the tests fast.
@Suite struct MovieTests {
    private let directory: TemporaryDirectory
    private let stop: EventFD

    init() throws {
        directory = try TemporaryDirectory()
        stop = try EventFD()
    }

    private func run(_ arguments: [String]) throws {
        try FFmpeg.runProgram(["ffmpeg", "-nostdin", "-v", "error", "-y"] + arguments, log: directory.file("log"))
    }

    /// 24 frames at 60 per second, whose brightness increases by 8 each, and a tone.
    private func movie(_ name: String, _ options: [String]) throws -> String {
        let path = directory.file(name)
        try run(
            [
                "-f", "lavfi", "-i", "nullsrc=s=64x48:r=60:d=0.4,geq=lum='20+8*N':cb=128:cr=128",
                "-f", "lavfi", "-i", "sine=1000:r=44100:d=0.4", "-pix_fmt", "yuv420p", "-c:v", "libx264",
            ] + options + [path])
        return path
    }

    private func open(_ path: String, loops: Bool = false) throws -> MovieSource {
        try MovieSource(path, clock: MovieClock(), loops: loops, stop: stop)
    }

    /// The number of a frame, derived from its brightness.
    private func number(_ frame: CapturedFrame) -> Int { frame.withBytes { (Int($0[0]) - 20 + 4) / 8 } }

    @Test(arguments: [
        ["-profile:v", "baseline"], ["-profile:v", "main", "-bf", "3"],
        ["-profile:v", "high", "-bf", "3", "-g", "8", "-b:a", "64k", "-movflags", "+faststart"],
        ["-profile:v", "high", "-bf", "2", "-x264-params", "open-gop=1:keyint=6"],
        ["-g", "8", "-movflags", "+frag_keyframe+empty_moov"], ["-g", "8", "-bf", "2", "-movflags", "+frag_keyframe"],
        ["-g", "8", "-movflags", "+frag_keyframe+empty_moov+omit_tfhd_offset+separate_moof"],
    ])
    func framesComeInOrderAtTheirTimes(options: [String]) throws {
        let source = try open(movie("a.mp4", options + ["-c:a", "aac"]))
        #expect(source.layout.size == FrameSize(width: 64, height: 48))
        #expect(source.frameRate == FrameRate(framesPerSecond: 60))
        var frames: [(number: Int, time: MediaTimestamp)] = []
        while let frame = try source.nextFrame() {
            if frame.repeats == nil { frames.append((number(frame), frame.captureTime)) }
        }
        // A busy machine drops late frames.
        #expect(frames.count + source.statistics.droppedFrames == 24)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.number < $1.number })
        let first = try #require(frames.first)
        for frame in frames {
            let expected = first.time + .nanoseconds(Int64(frame.number - first.number) * 1_000_000_000 / 60)
            #expect(abs((frame.time - expected).wholeNanoseconds) < 100_000)
        }
        #expect(source.endingNote?.contains("ended after") == true)
    }

    @Test func loopContinuesWithoutAJump() throws {
        let source = try open(movie("a.mp4", ["-bf", "2", "-an"]), loops: true)
        var first: MediaTimestamp?
        for _ in 0..<60 {
            let frame = try #require(try source.nextFrame())
            guard frame.repeats == nil else { continue }
            let start = first ?? frame.captureTime
            first = start
            let elapsed = (frame.captureTime - start).wholeNanoseconds
            let round = elapsed / 400_000_000
            let expected = round * 400_000_000 + Int64(number(frame)) * 1_000_000_000 / 60
            #expect(abs(elapsed - expected) < 1_000_000)
        }
    }

    @Test(arguments: [("44100", "2"), ("48000", "1"), ("22050", "1")])
    func decodedAudioKeepsItsLengthAndPitch(rate: String, channels: String) throws {
        let path = directory.file("a.m4a")
        try run([
            "-f", "lavfi", "-i", "sine=1000:r=\(rate):d=0.5", "-af", "volume=4", "-ac", channels, "-c:a", "aac", path,
        ])
        let source = try MovieAudio(path, clock: MovieClock(), loops: false, stop: stop)
        #expect("\(source.format.sampleRate)" == rate && "\(source.format.channelCount)" == channels)
        var samples: [Int16] = []
        var times: [MediaTimestamp] = []
        while let block = try source.nextBlock(frameCount: 1024) {
            times.append(block.captureTime)
            samples += stride(from: 0, to: block.samples.count, by: source.format.channelCount).map {
                block.samples[$0]
            }
        }
        #expect(abs(samples.count - source.format.sampleRate / 2) <= 1100)
        let middle = samples[samples.count / 4..<samples.count * 3 / 4]
        let rises = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(Double(rises) * Double(source.format.sampleRate) / Double(middle.count) - 1000) < 10)
        // The encoder's delay is cut off, so the audio starts at once.
        let start = samples.firstIndex { abs(Int($0)) > 1000 } ?? .max
        #expect(start < source.format.sampleRate / 200)
        #expect(source.endingNote != nil)
    }

    @Test func audioAndVideoFollowOneClock() throws {
        let path = try movie("a.mp4", ["-c:a", "aac"])
        let clock = MovieClock()
        let video = try MovieSource(path, clock: clock, loops: true, stop: stop)
        let audio = try MovieAudio(path, clock: clock, loops: true, stop: stop)
        let frame = try #require(try video.nextFrame())
        let block = try #require(try audio.nextBlock(frameCount: 441))
        #expect(block.captureTime == frame.captureTime)
        var count = 441
        while count < 44_100 {
            let next = try #require(try audio.nextBlock(frameCount: 441))
            #expect(next.captureTime == block.captureTime + .ofFrames(count, sampleRate: 44_100))
            count += next.samples.count / audio.format.channelCount
        }
    }

    @Test func unplayableFilesAreExplained() throws {
        func failure(_ path: String) -> String {
            do {
                _ = try open(path)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        let whole = try readFile(try movie("w.mp4", []), limit: 1 << 20)
        #expect(failure(try directory.write(whole.dropLast(100), to: "cut.mp4")).contains("no table of contents"))
        let tenBits = directory.file("ten.mp4")
        try run(["-i", try movie("t.mp4", ["-an"]), "-pix_fmt", "yuv420p10", "-c:v", "libx264", tenBits])
        #expect(failure(tenBits).contains("profile 110"))
        let interlaced = try movie("i.mp4", ["-an", "-x264-params", "interlaced=1"])
        #expect(failure(interlaced).contains("interlaced"))
        let other = directory.file("mpeg4.mp4")
        try run(["-i", interlaced, "-c:v", "mpeg4", other])
        #expect(failure(other).contains("no H.264 video: its video is mp4v"))
        let image = directory.file("a.png")
        try run(["-i", interlaced, "-frames:v", "1", image])
        #expect(failure(image).contains("this is a PNG file; give it as image:"))
        #expect(failure(try directory.write([1, 2, 3], to: "b")).contains("not an MP4 movie"))
        #expect(failure(try directory.makeFIFO("fifo")).contains("not a regular file"))
    }

    @Test(arguments: [
        (["-display_rotation", "90"], FrameRotation(.clockwise270)),
        (["-display_rotation", "180"], FrameRotation(.half)),
        (["-display_rotation", "270"], FrameRotation(.clockwise90)),
        (["-display_rotation", "90", "-display_hflip"], FrameRotation(.clockwise270, isMirrored: true)),
    ])
    func reportsHowTheCameraWasHeld(options: [String], rotation: FrameRotation) throws {
        let turned = directory.file("turned.mp4")
        try run(options + ["-i", movie("a.mp4", ["-an"]), "-c", "copy", turned])
        let source = try open(turned)
        #expect(source.ownRotation == rotation)
        #expect(source.layout.size == FrameSize(width: 64, height: 48), "its frames are turned later")
        #expect(try MovieSource.size(of: turned) == rotation.rotated(FrameSize(width: 64, height: 48)))
    }

    /// The largest size that OpenH264 decodes, and one more row or column of macroblocks.
    @Test(arguments: [
        ("16x8688", true), ("16x8704", false), ("8704x16", false), ("4096x2304", true), ("4096x2320", false),
    ])
    func oversizedFramesAreRefusedWhenOpening(size: String, isDecoded: Bool) throws {
        let path = directory.file("a.mp4")
        try run([
            "-f", "lavfi", "-i", "color=red:s=\(size):d=1", "-frames:v", "1", "-c:v", "libx264", "-preset", "ultrafast",
            "-pix_fmt", "yuv420p", path,
        ])
        guard isDecoded else {
            do {
                _ = try open(path)
                Issue.record("it was opened")
            } catch {
                #expect("\(error)".contains("its frames have \(size) pixels; OpenH264 decodes"))
                #expect("\(error)".contains("ffmpeg -i"))
            }
            return
        }
        let frame = try #require(try open(path).nextFrame())
        #expect("\(frame.layout.size)" == size)
    }

    /// Each call decodes one sample. The last one is missing, so reading that far would be an error.
    @Test func samplesWithoutAFrameDoNotDelayAStop() throws {
        var bytes = try readFile(movie("a.mp4", ["-an", "-movflags", "+faststart"]), limit: 1 << 20)
        let name = Array("mdat".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        for place in start + 4..<bytes.count { bytes[place] = 0 }
        let path = try directory.write(bytes, to: "broken.mp4")
        let source = try open(path)
        #expect(truncate(path, bytes.count - 1) == 0)
        for _ in 0..<5 {
            guard case .none = try source.nextFrame(until: .zero) else {
                Issue.record("a frame, or the end")
                return
            }
        }
        stop.signal()
        let end = try source.nextFrame()
        #expect(end == nil && source.endingNote == nil)
    }

    /// Reading beyond the end of the file would be an error.
    @Test func stoppedAudioReadsNoFurther() throws {
        let path = try movie("a.mp4", ["-c:a", "aac", "-movflags", "+faststart"])
        let source = try MovieAudio(path, clock: MovieClock(), loops: false, stop: stop)
        stop.signal()
        #expect(truncate(path, 100) == 0)
        let block = try source.nextBlock(frameCount: 1 << 16)
        #expect(block == nil && source.endingNote == nil)
    }

    @Test func truncatedMovieIsRefused() throws {
        let bytes = try readFile(movie("a.mp4", ["-c:a", "aac", "-movflags", "+faststart"]), limit: 1 << 20)
        for length in stride(from: 0, to: bytes.count, by: 997) {
            let path = try directory.write(Array(bytes[..<length]), to: "cut.mp4")
            #expect(throws: FileSourceError.self) { try open(path) }
        }
    }

    @Test func brokenSamplesAreDropped() throws {
        var bytes = try readFile(movie("a.mp4", ["-c:a", "aac", "-g", "6", "-movflags", "+faststart"]), limit: 1 << 20)
        for place in stride(from: bytes.count * 2 / 3, to: bytes.count, by: 61) { bytes[place] ^= 0x5A }
        let path = try directory.write(bytes, to: "broken.mp4")
        let source = try open(path)
        var last: MediaTimestamp?
        while let frame = try source.nextFrame() {
            #expect(last.map { $0 < frame.captureTime } ?? true)
            last = frame.captureTime
        }
        let audio = try MovieAudio(path, clock: MovieClock(), loops: false, stop: stop)
        while try audio.nextBlock(frameCount: 1024) != nil {}
        #expect(audio.endingNote != nil)
    }
}
