import DevicePorts
import LinuxIO
import Media

/// A moving pattern with a clock and a frame counter: color bars, a ball of rings that swings across them, digits for people,
/// and `BurntInClock`'s strip for programs. I420.
///
/// Paced by CLOCK_MONOTONIC: frame N is due N / fps after the first one. Frames that nobody takes in time are skipped and leave
/// a gap in the counter, as with a camera.
public final class TestPattern: VideoSource {
    public let layout: FrameLayout
    public let frameRate: FrameRate
    public var colors: VideoColors? { layout.colors(reported: nil) }
    public let endingNote: String? = nil
    private let pacing: Pacing
    private let background: [UInt8]
    private let ball: [UInt8]
    private let ballSide: Int
    private var pool: FramePool
    /// Position of the ball in each of the pool's frames. Everything else that changes is redrawn anyway.
    private var balls: [ObjectIdentifier: BallPlace] = [:]
    private var schedule: Schedule?
    /// Skipped frames are counted, as with a camera.
    public private(set) var statistics = VideoSourceStatistics()

    public init(size: FrameSize, frameRate: FrameRate, stop: EventFD) {
        layout = FrameLayout(packed: .i420, size: size)
        self.frameRate = frameRate
        pacing = Pacing(stop: stop)
        pool = FramePool(byteCount: layout.byteCount)
        background = Self.background(layout)
        ballSide = max(8, size.height / 3)
        ball = Self.rings(side: ballSide)
    }

    public func nextFrame() throws -> CapturedFrame? {
        var schedule = schedule ?? Schedule(start: MonotonicClock.now(), rate: frameRate)
        let wanted = schedule.index
        schedule.skipMissed(now: MonotonicClock.now())
        statistics.droppedFrames += schedule.index - wanted
        guard try pacing.wait(until: schedule.due) else { return nil }
        let frame = pool.take()
        let last = frame.takeModification() ? nil : balls[ObjectIdentifier(frame)]
        frame.withMutableBytes { bytes in
            balls[ObjectIdentifier(frame)] = draw(
                into: bytes, over: last, frame: schedule.index, at: schedule.due, since: schedule.start)
        }
        defer {
            schedule.advance()
            self.schedule = schedule
            statistics.capturedFrames += 1
        }
        return CapturedFrame(layout: layout, captureTime: schedule.due, memory: frame)
    }

    /// The ball's top left corner.
    struct BallPlace {
        let x: Int
        let y: Int
    }

    /// - Parameter last: position of the ball in the frame that the memory contains; `nil` if there is no frame yet.
    /// - Returns: the ball's new position.
    @discardableResult
    func draw(
        into bytes: UnsafeMutableRawBufferPointer, over last: BallPlace? = nil, frame: Int, at time: MediaTimestamp,
        since start: MediaTimestamp
    ) -> BallPlace {
        let size = layout.size
        let canvas = PatternCanvas(bytes: bytes, size: size)
        if let last {
            canvas.restore(from: background, x: last.x, y: last.y, side: ballSide)
        } else {
            bytes.copyBytes(from: background)
        }
        let elapsed = Int((time - start).wholeNanoseconds / 1_000_000)
        let strip = BurntInClock.height(in: size)
        let place = BallPlace(
            x: Self.swing(elapsed, period: 5000, range: size.width - ballSide),
            y: Self.swing(elapsed, period: 3100, range: max(0, size.height - strip - ballSide)))
        canvas.draw(sprite: ball, side: ballSide, x: place.x, y: place.y)
        let scale = max(1, size.height / 60)
        canvas.write(Self.clock(elapsed), x: 2 * scale, y: 2 * scale, scale: scale)
        canvas.write(Self.padded(frame, to: 6), x: 2 * scale, y: 12 * scale, scale: scale)
        BurntInClock.draw(
            frameNumber: UInt32(truncatingIfNeeded: frame), time: time, luma: bytes, stride: size.width, size: size)
        return place
    }

    /// Moves back and forth between 0 and `range` at constant speed.
    private static func swing(_ milliseconds: Int, period: Int, range: Int) -> Int {
        let phase = milliseconds % period * 2
        return (phase < period ? phase : 2 * period - phase) * range / period
    }

    /// `MM:SS.mmm`
    private static func clock(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        return
            "\(padded(seconds / 60 % 100, to: 2)):\(padded(seconds % 60, to: 2)).\(padded(milliseconds % 1000, to: 3))"
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// White, yellow, cyan, green, magenta, red, blue and black at 75 %, in limited range.
    private static func bars(_ colors: VideoColors) -> [(UInt8, UInt8, UInt8)] {
        colors == .bt709
            ? [
                (180, 128, 128), (168, 44, 136), (145, 147, 44), (133, 63, 52), (63, 193, 204), (51, 109, 212),
                (28, 212, 120), (16, 128, 128),
            ]
            : [
                (180, 128, 128), (162, 44, 142), (131, 156, 44), (112, 72, 58), (84, 184, 198), (65, 100, 212),
                (35, 212, 114), (16, 128, 128),
            ]
    }

    /// Eight bars above a ramp from black to white, with neutral chroma under the strip.
    private static func background(_ layout: FrameLayout) -> [UInt8] {
        let size = layout.size
        let colors = bars(layout.colors(reported: nil))
        let strip = BurntInClock.height(in: size)
        let rampTop = max(0, size.height - strip - size.height / 8)
        var bytes = [UInt8](repeating: 128, count: layout.byteCount)
        bytes.withUnsafeMutableBytes { bytes in
            let canvas = PatternCanvas(bytes: bytes, size: size)
            for (index, color) in colors.enumerated() {
                let left = index * size.width / colors.count
                let right = (index + 1) * size.width / colors.count
                canvas.fill(
                    x: left, y: 0, width: right - left, height: rampTop, color: (y: color.0, u: color.1, v: color.2)
                )
            }
            for x in stride(from: 0, to: size.width, by: 2) {
                let level = UInt8(16 + x * 219 / size.width)
                canvas.fill(x: x, y: rampTop, width: 2, height: size.height - rampTop, color: (level, 128, 128))
            }
        }
        return bytes
    }

    /// Concentric rings, fine at the rim: detail that costs bits when it moves.
    private static func rings(side: Int) -> [UInt8] {
        (0..<side * side).map { index in
            let (x, y) = (2 * (index % side) - side, 2 * (index / side) - side)
            let phase = (x * x + y * y) * 24 / (side * side) % 4
            return [60, 120, 200, 120][phase]
        }
    }
}

extension TestPattern {
    public var origin: String { "the test pattern" }
}
