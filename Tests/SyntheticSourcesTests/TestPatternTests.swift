import DevicePorts
import LinuxIO
import Media
import Testing

@testable import SyntheticSources

struct SourceHasEnded: Error {}

/// The next frame of a source that is known to have one.
func next(_ source: some VideoSource) throws -> CapturedFrame {
    guard let frame = try source.nextFrame() else { throw SourceHasEnded() }
    return frame
}

func bytes(_ frame: CapturedFrame) -> [UInt8] { frame.withBytes { [UInt8]($0) } }

@Suite struct TestPatternTests {
    private let stop: EventFD
    private let size = FrameSize(width: 160, height: 90)

    init() throws { stop = try EventFD() }

    private func reading(_ frame: CapturedFrame) -> BurntInClock.Reading? {
        frame.withBytes { BurntInClock.read(luma: $0, stride: size.width, size: size) }
    }

    @Test func framesAreNumberedAndTimed() throws {
        let rate = FrameRate(framesPerSecond: 60)
        let pattern = TestPattern(size: size, frameRate: rate, stop: stop)
        var start: MediaTimestamp?
        var lastNumber = -1
        for _ in 0..<10 {
            let frame = try next(pattern)
            let time = frame.captureTime
            let found = reading(frame)
            let reading = try #require(found)
            let number = Int(reading.frameNumber)
            #expect(number > lastNumber)
            lastNumber = number
            if start == nil { start = time - rate.offset(ofFrame: number) }
            #expect(start.map { time - $0 } == rate.offset(ofFrame: number))
            #expect(reading.time == MediaTimestamp(milliseconds: time.nanoseconds / 1_000_000))
            #expect(time <= MonotonicClock.now())
        }
    }

    @Test func drawingOverAnOlderFrameLeavesNoTrace() {
        let size = FrameSize(width: 320, height: 180)
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 30), stop: stop)
        var used = [UInt8](repeating: 0, count: pattern.layout.byteCount)
        var last: TestPattern.BallPlace?
        for milliseconds in stride(from: Int64(0), to: 9000, by: 377) {
            let time = MediaTimestamp(milliseconds: milliseconds)
            var fresh = [UInt8](repeating: 0, count: used.count)
            fresh.withUnsafeMutableBytes {
                _ = pattern.draw(into: $0, frame: Int(milliseconds), at: time, since: .zero)
            }
            used.withUnsafeMutableBytes {
                last = pattern.draw(into: $0, over: last, frame: Int(milliseconds), at: time, since: .zero)
            }
            #expect(used == fresh)
        }
    }

    @Test func digitsMatchTheStrip() throws {
        let size = FrameSize(width: 640, height: 360)
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 30), stop: stop)
        var frame = [UInt8](repeating: 0, count: pattern.layout.byteCount)
        let start = MediaTimestamp(milliseconds: 5000)
        frame.withUnsafeMutableBytes {
            pattern.draw(into: $0, frame: 123_456, at: MediaTimestamp(milliseconds: 5000 + 754_321), since: start)
        }
        func with(_ clock: String, _ number: String) -> [UInt8] {
            var copy = frame
            copy.withUnsafeMutableBytes {
                let canvas = PatternCanvas(bytes: $0, size: size)
                canvas.write(clock, x: 12, y: 12, scale: 6)
                canvas.write(number, x: 12, y: 72, scale: 6)
            }
            return copy
        }
        #expect(with("12:34.321", "123456") == frame)
        #expect(with("12:34.322", "123456") != frame)
        #expect(with("12:34.321", "123457") != frame)
    }

    @Test func skipsFramesThatNobodyTook() {
        let rate = FrameRate(framesPerSecond: 10)
        var schedule = Schedule(start: .zero, rate: rate)
        schedule.skipMissed(now: MediaTimestamp(milliseconds: 100))
        #expect(schedule.index == 0)
        schedule.skipMissed(now: MediaTimestamp(milliseconds: 101))
        #expect(schedule.index == 1)
        schedule.skipMissed(now: MediaTimestamp(milliseconds: 1050))
        #expect(schedule.index == 10)
        #expect(schedule.due == MediaTimestamp(milliseconds: 1000))
    }

    /// A slow reader can tell how many frames it missed.
    @Test func skippedFramesAreCounted() throws {
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 60), stop: stop)
        var numbers: [Int] = []
        for _ in 0..<3 {
            let found = reading(try next(pattern))
            numbers.append(Int(try #require(found).frameNumber))
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(80))
        }
        let (missed, last) = (pattern.statistics.droppedFrames, try #require(numbers.last))
        #expect(missed == last + 1 - numbers.count && missed >= 4)
    }

    @Test func stopEndsTheWait() throws {
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 1), stop: stop)
        _ = try next(pattern).captureTime
        stop.signal()
        let hasEnded = try pattern.nextFrame() == nil
        #expect(hasEnded)
        #expect(pattern.endingNote == nil)
        // It is not drained, so it stays signaled and can stop other sources too.
        #expect(stop.drain())
    }

    @Test func leasedFramesKeepTheirContent() throws {
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 60), stop: stop)
        let kept = try next(pattern)
        let before = bytes(kept)
        for _ in 0..<5 {
            let other = bytes(try next(pattern))
            #expect(other != before)
        }
        let after = bytes(kept)
        #expect(after == before)
    }

    @Test func reusesMemory() throws {
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 60), stop: stop)
        func address(_ frame: CapturedFrame) -> Int { frame.withBytes { Int(bitPattern: $0.baseAddress) } }
        var addresses: Set<Int> = []
        for _ in 0..<5 {
            let first = try next(pattern)
            let second = try next(pattern)
            let pair = [address(first), address(second)]
            #expect(pair[0] != pair[1])
            addresses.formUnion(pair)
        }
        #expect(addresses.count == 2)
    }

    @Test(arguments: [(16, 16), (2, 2), (17, 31), (33, 2), (2, 401), (1919, 1079)])
    func drawsAnySize(width: Int, height: Int) {
        let size = FrameSize(width: width, height: height)
        let pattern = TestPattern(size: size, frameRate: FrameRate(framesPerSecond: 30), stop: stop)
        var frame = [UInt8](repeating: 0, count: pattern.layout.byteCount)
        frame.withUnsafeMutableBytes {
            pattern.draw(into: $0, frame: 7, at: MediaTimestamp(milliseconds: 2600), since: .zero)
        }
        // Limited range everywhere: every sample was drawn.
        #expect(frame.allSatisfy { (16...240).contains($0) })
    }
}
