import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import USBVideo

/// Converts frames of any layout to the computer's chosen format. Used on the thread `webcam`.
final class WebcamFrames {
    /// Encoding the same frame more often would delay the next one.
    private static let largestTryCount = 2

    private let choice: VideoChoice
    private let jpeg: MotionJPEGEncoder?
    private var quality: JPEGQuality
    /// Scaler for the layout of the latest frame, and the memory with the scaled frame between bars, which are black in the
    /// final format.
    private var scaled: (scaler: SoftwareScaler, bytes: [UInt8], isFullRange: Bool)?
    /// For the same frames; `nil` until it is needed.
    private var converter: ColorConverter?

    /// - Parameter largestFile: bytes of a JPEG that the bus can carry per frame interval.
    init(_ choice: VideoChoice, largestFile: Int) throws(JPEGError) {
        self.choice = choice
        jpeg = choice.mode.coding == .mjpeg ? try MotionJPEGEncoder(size: choice.mode.size) : nil
        quality = JPEGQuality(largest: largestFile, room: choice.mode.largestFrame)
    }

    /// Adds black bars if the shapes differ; never stretches.
    /// - Parameter frame: set to `nil` as soon as it was read, because a camera cannot be closed while its frames are held.
    /// - Returns: number of bytes written; 0 if the frame does not fit.
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

    /// - Returns: `nil` if the frame is not in the computer's format.
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

    /// Computers assume BT.601 full range for JPEG, to which the encoder expands limited range, and BT.601 limited range for
    /// raw frames.
    private func needsConversion(_ colors: VideoColors) -> Bool {
        colors.matrix == VideoColors.bt709.matrix || colors.isFullRange && rawFormat != nil
    }

    /// Converts the frame in memory to BT.601 limited range; the bars already have it.
    private func convert(_ layout: FrameLayout, from colors: VideoColors) throws(VideoEncodingError) {
        guard needsConversion(colors), let place = scaled?.scaler.fit else { return }
        if converter == nil { converter = try ColorConverter(layout, within: place) }
        try scaled?.bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(VideoEncodingError) in try converter?.convert(bytes, from: colors) }
        }.get()
    }

    /// - Parameter isFullRange: whether the frame is sent in full range.
    /// - Returns: the layout of the frame in memory.
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
