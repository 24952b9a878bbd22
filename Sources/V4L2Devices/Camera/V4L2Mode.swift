import CLinux
import DevicePorts
import Glibc
import Media

/// A format and size that a camera offers, with its highest frame rate.
public struct V4L2Mode: Hashable, Sendable {
    public let format: FourCC
    public let size: FrameSize
    /// 0 if the driver does not say.
    public let framesPerSecond: Int

    public init(format: FourCC, size: FrameSize, framesPerSecond: Int) {
        self.format = format
        self.size = size
        self.framesPerSecond = framesPerSecond
    }
}

extension [V4L2Mode] {
    /// The best mode for a stream: a sufficient frame rate first, then the stream's size (else the next larger one, else the
    /// largest), then a format that needs no conversion.
    ///
    /// A webcam offers large frames at full rate only compressed, and uncompressed ones only at a low rate.
    /// - Parameter ranking: usable formats, best first.
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
    /// Every format with every size. A range of sizes yields the wanted size if that lies inside, else its ends.
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
        // Protects against a driver whose list never ends.
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
        // A driver that lists no sizes accepts what S_FMT asks for, or adjusts it.
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
    /// The value clamped to a driver's range and rounded down to its steps.
    func fitted(_ least: UInt32, _ most: UInt32, _ step: UInt32) -> Int {
        let clamped = Swift.min(Swift.max(self, Int(least)), Int(Swift.max(least, most)))
        return Int(least) + (clamped - Int(least)) / Swift.max(1, Int(step)) * Swift.max(1, Int(step))
    }
}
