import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import USBVideo

/// Brings frames of any layout to what a computer has chosen. Used on the thread `webcam`.
final class WebcamFrames {
    /// A processor that makes one file again and again is late for the next frame.
    private static let largestTryCount = 2

    private let choice: VideoChoice
    private let jpeg: MotionJPEGEncoder?
    private var quality: JPEGQuality
    /// For frames as they came last, and the memory that has them in the computer's size, between bars that are black in what it
    /// becomes.
    private var scaled: (scaler: SoftwareScaler, bytes: [UInt8], isFullRange: Bool)?
    /// For the same frames; `nil` until one needs it.
    private var converter: ColorConverter?

    /// - Parameter largestFile: bytes of a JPEG that the bus carries in the time of a frame.
    init(_ choice: VideoChoice, largestFile: Int) throws(JPEGError) {
        self.choice = choice
        jpeg = choice.mode.coding == .mjpeg ? try MotionJPEGEncoder(size: choice.mode.size) : nil
        quality = JPEGQuality(largest: largestFile, room: choice.mode.largestFrame)
    }

    /// Between black bars where its shape is another; never stretched.
    /// - Parameter frame: `nil` as soon as it was read: a camera whose frames somebody holds cannot be closed.
    /// - Returns: how many bytes the frame has; 0 for one that does not get through.
    func write(
        _ frame: inout CapturedFrame?, colors: VideoColors?, into room: UnsafeMutableRawBufferPointer
    ) throws(WebcamError) -> Int {
        defer { frame = nil }
        do throws(VideoEncodingError) {
            guard let source = frame?.layout else { return 0 }
            let colors = source.colors(reported: colors)
            if !needsConversion(colors), let frame, let count = try copy(frame, into: room) { return count }
            let isFullRange = colors.isFullRange && !needsConversion(colors)
            guard let layout = try read(frame, isFullRange: isFullRange) else { return 0 }
            frame = nil
            try convert(layout, from: colors)
            return try scaled?.bytes.withUnsafeBytes { bytes in
                Result { () throws(VideoEncodingError) in
                    try pack(bytes, layout, isFullRange: isFullRange, into: room)
                }
            }.get() ?? 0
        } catch {
            scaled = nil
            throw .frameUnreadable(reason: "\(error)")
        }
    }

    /// - Returns: `nil` for a frame that is not as the computer wants it.
    private func copy(
        _ frame: CapturedFrame, into room: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) -> Int? {
        guard let format = rawFormat, frame.layout.format == format, frame.layout.size == choice.mode.size else {
            return nil
        }
        return try frame.withBytes { bytes throws(VideoEncodingError) in
            try FramePacker.copy(bytes, frame.layout, into: room)
        }
    }

    /// `nil` for JPEG.
    private var rawFormat: PixelFormat? {
        switch choice.mode.coding {
        case .mjpeg: nil
        case .nv12: .nv12
        case .yuyv: .yuyv
        }
    }

    /// Computers take JPEG for BT.601 of full range, to which the encoder widens the limited one, and raw frames for BT.601 of
    /// limited range.
    private func needsConversion(_ colors: VideoColors) -> Bool {
        colors.matrix == VideoColors.bt709.matrix || colors.isFullRange && rawFormat != nil
    }

    /// What is in the memory becomes BT.601 of limited range, which the bars around it are already.
    private func convert(_ layout: FrameLayout, from colors: VideoColors) throws(VideoEncodingError) {
        guard needsConversion(colors), let place = scaled?.scaler.fit else { return }
        if converter == nil { converter = try ColorConverter(layout, within: place) }
        try scaled?.bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(VideoEncodingError) in try converter?.convert(bytes, from: colors) }
        }.get()
    }

    /// - Parameter isFullRange: whether the frame is sent as one of full range.
    /// - Returns: the layout of what is in the memory now.
    private func read(_ frame: CapturedFrame?, isFullRange: Bool) throws(VideoEncodingError) -> FrameLayout? {
        guard let frame else { return nil }
        if scaled?.scaler.source != frame.layout || scaled?.isFullRange != isFullRange {
            let scaler = try SoftwareScaler(from: frame.layout, to: choice.mode.size)
            scaled = (scaler, scaler.target.black(isFullRange: isFullRange), isFullRange)
            converter = nil
        }
        guard let scaler = scaled?.scaler else { return nil }
        try frame.withBytes { bytes throws(VideoEncodingError) in
            try scaled?.bytes.withUnsafeMutableBytes { target in
                Result { () throws(VideoEncodingError) in try scaler.scale(bytes, into: target) }
            }.get()
        }
        return scaler.target
    }

    private func pack(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, isFullRange: Bool,
        into room: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) -> Int {
        if let rawFormat { return try FramePacker.pack(bytes, layout, as: rawFormat, into: room) }
        guard let jpeg else { return 0 }
        for _ in 0..<Self.largestTryCount {
            let count = try? jpeg.encode(bytes, layout, isFullRange: isFullRange, quality: quality.value) { file in
                if file.count <= room.count { room.copyMemory(from: file) }
                return file.count
            }
            guard let count else { return 0 }
            if quality.adapt(toByteCount: count), count <= room.count { return count }
        }
        return 0
    }
}
