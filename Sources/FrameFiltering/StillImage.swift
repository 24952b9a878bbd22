import DevicePorts
import LinuxIO
import Media

/// A PNG or JPEG file as complete frames: scaled to fit, centered, on black.
///
///     let image = try StillImage(reading: path)                   // reads the card; on a thread that may wait
///     let bytes = image.frame(of: size, colors: colors)           // packed I420; once for each size
public struct StillImage: Sendable {
    private let image: DecodedImage

    /// Reads and decodes the file, which takes as long as the card does. The limits are 8 MB and 4,000,000 pixels.
    public init(reading path: String) throws(StillImageError) {
        let bytes: [UInt8]
        do throws(SystemCallError) {
            bytes = try readRegularFile(path, limit: LoadedFilters.largestImageFile)
        } catch {
            throw .unreadable(error)
        }
        try self.init(bytes, path: path)
    }

    /// - Parameter path: the file's path, for errors.
    public init(_ bytes: [UInt8], path: String) throws(StillImageError) {
        switch DecodedImage.pixels(of: bytes) {
        case .success(let pixels): image = DecodedImage(pixels)
        case .failure(.tooLarge(let size)): throw .tooLarge(path: path, size)
        case .failure(.unusable(let reason)): throw .unusable(path: path, reason: reason)
        }
    }

    /// The file's size in pixels.
    public var size: FrameSize { image.size }

    /// Takes tens of milliseconds on a small board, so call it only once per size.
    /// - Parameters:
    ///   - size: sides from 2 to 8192; other sizes give a black frame.
    ///   - colors: the frame's color space.
    /// - Returns: I420 without padding. Transparent areas are black.
    public func frame(of size: FrameSize, colors: VideoColors) -> [UInt8] {
        let layout = FrameLayout(packed: .i420, size: size)
        var bytes = [UInt8](repeating: FrameFormat.noColor, count: layout.byteCount)
        let shown = fitted(into: size)
        bytes.withUnsafeMutableBytes { bytes in
            bytes[..<size.pixelCount].initializeMemory(as: UInt8.self, repeating: colors.isFullRange ? 0 : 16)
            // A new frame is always complete, so only its size may be unsupported.
            guard let planes = try? FramePlanes(bytes, layout), let pixels = image.pixels(scaledTo: shown) else {
                return
            }
            let corner = (x: (size.width - shown.width) / 4 * 2, y: (size.height - shown.height) / 4 * 2)
            Overlay(pixels, at: corner, opacity: 1, in: FrameFormat(planes, colors))
                .blend(rows: 0..<size.height, into: planes)
        }
        return bytes
    }

    /// As large as fits without distortion. Even, so that no chroma sample is half image and half bar.
    private func fitted(into frame: FrameSize) -> FrameSize {
        let (width, height) = (Double(image.size.width), Double(image.size.height))
        let factor = min(Double(frame.width) / width, Double(frame.height) / height)
        func even(_ side: Double, atMost limit: Int) -> Int { min(max(2, Int((side / 2).rounded()) * 2), limit) }
        return FrameSize(
            width: even(width * factor, atMost: frame.width), height: even(height * factor, atMost: frame.height))
    }
}

/// Why an image file cannot be shown.
public enum StillImageError: Error, Hashable, Sendable {
    case unreadable(SystemCallError)
    /// - Parameter reason: why the image is incomplete or invalid, for people.
    case unusable(path: String, reason: String)
    case tooLarge(path: String, FrameSize)
}

extension StillImageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let error): error.fileProblem
        case .unusable(let path, let reason): "\(path) is not a usable image: \(reason); give a PNG or JPEG file"
        case .tooLarge(let path, let size):
            "\(path) has \(size) pixels; reduce it to at most \(DecodedImage.mostPixels) in all and "
                + "\(DecodedImage.longestSide) a side"
        }
    }
}
