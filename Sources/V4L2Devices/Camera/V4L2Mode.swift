import CLinux
import DevicePorts
import Glibc
import Media

/// A size and format that a camera offers, and the most frames per second in it.
public struct V4L2Mode: Hashable, Sendable {
    public let format: FourCC
    public let size: FrameSize
    /// 0 when the driver does not say.
    public let framesPerSecond: Int

    public init(format: FourCC, size: FrameSize, framesPerSecond: Int) {
        self.format = format
        self.size = size
        self.framesPerSecond = framesPerSecond
    }
}

extension [V4L2Mode] {
    /// The mode that serves a stream best: enough frames per second, then the stream's size (else the smallest
    /// one above it, else the largest), then a format that needs no conversion.
    ///
    /// A webcam has large frames at full rate compressed only, and slow ones uncompressed.
    /// - Parameter ranking: formats that can be used, the best first.
    public func best(
        size: FrameSize, frameRate: FrameRate, ranking: [FourCC]
    ) -> V4L2Mode? {
        func cost(_ mode: V4L2Mode) -> [Int] {
            let isFast = mode.framesPerSecond == 0 || mode.framesPerSecond >= frameRate.framesPerSecond
            let covers = mode.size.width >= size.width && mode.size.height >= size.height
            let area = mode.size.width * mode.size.height
            let difference = abs(area - size.width * size.height)
            return [
                isFast ? 0 : frameRate.framesPerSecond - mode.framesPerSecond, mode.size == size ? 0 : covers ? 1 : 2,
                difference, ranking.firstIndex(of: mode.format) ?? ranking.count,
            ]
        }
        return filter { ranking.contains($0.format) }.min { cost($0).lexicographicallyPrecedes(cost($1)) }
    }
}

extension V4L2Device {
    /// Every format with every size; ranges of sizes give the wanted one when it lies in them, else their ends.
    func modes(near wanted: FrameSize) throws(V4L2Error) -> [V4L2Mode] {
        var modes: [V4L2Mode] = []
        for format in try formats() {
            for size in try sizes(of: format, near: wanted) {
                let rate = try largestRate(of: format, size: size)
                modes.append(V4L2Mode(format: format, size: size, framesPerSecond: rate))
            }
        }
        return modes
    }

    private func formats() throws(V4L2Error) -> [FourCC] {
        var formats: [FourCC] = []
        // A driver that never ends its list is cut off.
        for index in 0..<256 {
            var description = v4l2_fmtdesc()
            description.index = UInt32(index)
            description.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
            guard try requestUnless(EINVAL, "VIDIOC_ENUM_FMT", clinux_vidioc_enum_fmt, &description) else { break }
            formats.append(FourCC(rawValue: description.pixelformat))
        }
        return formats
    }

    private func sizes(of format: FourCC, near wanted: FrameSize) throws(V4L2Error) -> [FrameSize] {
        var sizes: [FrameSize] = []
        for index in 0..<256 {
            var entry = v4l2_frmsizeenum()
            entry.index = UInt32(index)
            entry.pixel_format = format.rawValue
            guard try requestUnless(EINVAL, "VIDIOC_ENUM_FRAMESIZES", clinux_vidioc_enum_framesizes, &entry) else {
                break
            }
            guard entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue else {
                let range = entry.stepwise
                return [
                    FrameSize(
                        width: wanted.width.fitted(range.min_width, range.max_width, range.step_width),
                        height: wanted.height.fitted(range.min_height, range.max_height, range.step_height))
                ]
            }
            sizes.append(FrameSize(width: Int(entry.discrete.width), height: Int(entry.discrete.height)))
        }
        // A driver that lists no sizes takes what S_FMT asks, or moves it to what it has.
        return sizes.isEmpty ? [wanted] : sizes
    }

    private func largestRate(of format: FourCC, size: FrameSize) throws(V4L2Error) -> Int {
        var largest = 0
        for index in 0..<64 {
            var entry = v4l2_frmivalenum()
            entry.index = UInt32(index)
            entry.pixel_format = format.rawValue
            entry.width = UInt32(size.width)
            entry.height = UInt32(size.height)
            guard
                let found = try? requestUnless(
                    EINVAL, "VIDIOC_ENUM_FRAMEINTERVALS", clinux_vidioc_enum_frameintervals, &entry), found
            else { break }
            let isDiscrete = entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
            let interval = isDiscrete ? entry.discrete : entry.stepwise.min
            if interval.numerator > 0 { largest = max(largest, Int(interval.denominator / interval.numerator)) }
            if !isDiscrete { break }
        }
        return largest
    }
}

extension Int {
    /// The value within a driver's range, a whole number of steps above its start.
    func fitted(_ least: UInt32, _ most: UInt32, _ step: UInt32) -> Int {
        let clamped = Swift.min(Swift.max(self, Int(least)), Int(Swift.max(least, most)))
        return Int(least) + (clamped - Int(least)) / Swift.max(1, Int(step)) * Swift.max(1, Int(step))
    }
}
