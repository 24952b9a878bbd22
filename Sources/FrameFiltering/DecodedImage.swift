import CJPEG
import CPNG
import Filters
import Media

/// A watermark decoded from its file.
final class DecodedImage: Sendable {
    /// More than any stream shows. A compressed file of a few kilobytes can claim far more than memory holds.
    static let mostPixels = 4_000_000
    static let longestSide = 8192

    let size: FrameSize
    /// The image at full, half, quarter size, and so on (L. Williams: Pyramidal Parametrics, 1983). Scaling then costs only
    /// what is shown, however large the file, and every pixel still counts.
    private let levels: [Overlay.Pixels]

    static let nothing = DecodedImage(FrameSize(width: 0, height: 0), [])

    private init(_ size: FrameSize, _ levels: [Overlay.Pixels]) {
        self.size = size
        self.levels = levels
    }

    /// - Returns: `nil` for an empty image.
    func pixels(scaledTo size: FrameSize) -> Overlay.Pixels? {
        let level = levels.last { $0.size.width >= size.width && $0.size.height >= size.height }
        return (level ?? levels.first)?.scaled(to: size)
    }

    convenience init(_ bytes: [UInt8], _ path: String, _ filter: FilterID) throws(FilteringError) {
        switch Self.pixels(of: bytes) {
        case .success(let pixels): self.init(pixels)
        case .failure(.tooLarge(let size)): throw .tooLargeImage(filter, path: path, size)
        case .failure(.unusable(let reason)): throw .unusableImage(filter, path: path, reason: reason)
        }
    }

    convenience init(_ pixels: Overlay.Pixels) { self.init(pixels.size, Self.levels(of: pixels)) }

    /// Why a file cannot be decoded.
    enum ImageFault: Error {
        case tooLarge(FrameSize)
        /// - Parameter 0: the reason, for people.
        case unusable(String)
    }

    /// - Parameter bytes: a PNG or JPEG file, recognized by its first bytes.
    static func pixels(of bytes: [UInt8]) -> Result<Overlay.Pixels, ImageFault> {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return decodePNG(bytes) }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return decodeJPEG(bytes) }
        return .failure(.unusable("it is neither PNG nor JPEG"))
    }

    private static func decodePNG(_ bytes: [UInt8]) -> Result<Overlay.Pixels, ImageFault> {
        var image = cpng_image()
        guard cpng_measure(bytes, bytes.count, &image) == 0 else { return .failure(.unusable(text(of: image.message))) }
        return decoded(image.width, image.height) { rgba in
            cpng_decode(bytes, bytes.count, rgba, &image) == 0 ? nil : text(of: image.message)
        }
    }

    private static func decodeJPEG(_ bytes: [UInt8]) -> Result<Overlay.Pixels, ImageFault> {
        var image = cjpeg_image()
        guard cjpeg_measure(bytes, bytes.count, &image) == 0 else {
            return .failure(.unusable(text(of: image.message)))
        }
        return decoded(image.width, image.height) { rgba in
            cjpeg_decode(bytes, bytes.count, rgba, &image) == 0 ? nil : text(of: image.message)
        }
    }

    /// - Parameter decode: writes all pixels, or returns the reason for failure.
    private static func decoded(
        _ width: UInt32, _ height: UInt32, _ decode: (UnsafeMutablePointer<UInt8>?) -> String?
    ) -> Result<Overlay.Pixels, ImageFault> {
        let size = FrameSize(width: Int(width), height: Int(height))
        guard size.width > 0, size.height > 0 else { return .failure(.unusable("it is empty")) }
        guard size.width <= longestSide, size.height <= longestSide, size.pixelCount <= mostPixels else {
            return .failure(.tooLarge(size))
        }
        var failure: String?
        let pixels = [UInt8](unsafeUninitializedCapacity: 4 * size.pixelCount) { buffer, count in
            failure = decode(buffer.baseAddress)
            guard failure == nil else { return }
            count = 4 * size.pixelCount
            multiplyByAlpha(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
        }
        return failure.map { .failure(.unusable($0)) } ?? .success(Overlay.Pixels(size: size, bytes: pixels))
    }

    private static func levels(of pixels: Overlay.Pixels) -> [Overlay.Pixels] {
        var (levels, last) = ([pixels], pixels)
        while last.size.width >= 4, last.size.height >= 4 {
            last = last.halved
            levels.append(last)
        }
        return levels
    }

    private static func multiplyByAlpha(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        for place in stride(from: 0, to: pixels.count, by: 4) where pixels[place + 3] != 255 {
            let alpha = UInt32(pixels[place + 3])
            for channel in place..<place + 3 {
                pixels[channel] = UInt8((UInt32(pixels[channel]) * alpha + 127) / 255)
            }
        }
    }

    /// A C array of characters, which Swift imports as a tuple.
    private static func text<Characters>(of message: Characters) -> String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
