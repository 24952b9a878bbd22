import Bitstream
import CJPEG
import CLibYUV
import CPNG
import LinuxIO
import Media

/// A PNG or JPEG file, read completely.
public struct ImageFile: Sendable {
    /// A compressed file of a few kilobytes can claim far more than memory holds.
    static let mostPixels = 16_000_000
    static let longestSide = 16_384
    static let largestFile = 32 << 20

    /// The size in upright orientation.
    public let size: FrameSize
    /// The size in the file.
    private let storedSize: FrameSize
    /// The rotation to upright orientation.
    private let rotation: FrameRotation
    private let path: String
    private let bytes: [UInt8]
    private let isPNG: Bool

    /// Reads the file, which takes as long as its disk does, and decodes only the image's header.
    public init(_ path: String) throws(FileSourceError) {
        self.path = path
        do throws(SystemCallError) {
            bytes = try readRegularFile(path, limit: Self.largestFile)
        } catch {
            throw .unreadable(error)
        }
        let kind = FileSignature.name(of: bytes)
        guard kind == "a PNG file" || kind == "a JPEG file" else {
            throw .wrongKind(path: path, wanted: .image, found: kind)
        }
        isPNG = kind == "a PNG file"
        storedSize = try isPNG ? Self.measurePNG(bytes, path) : Self.measureJPEG(bytes, path)
        rotation = isPNG ? FrameRotation() : EXIF.rotation(ofJPEG: bytes)
        size = rotation.rotated(storedSize)
        guard size.width > 0, size.height > 0 else { throw .brokenImage(path: path, reason: "it is empty") }
        guard size.width <= Self.longestSide, size.height <= Self.longestSide, size.pixelCount <= Self.mostPixels
        else { throw .tooLargeImage(path: path, size) }
    }

    private static func measurePNG(_ bytes: [UInt8], _ path: String) throws(FileSourceError) -> FrameSize {
        var image = cpng_image()
        guard cpng_measure(bytes, bytes.count, &image) == 0 else {
            throw .brokenImage(path: path, reason: text(of: image.message))
        }
        return FrameSize(width: Int(image.width), height: Int(image.height))
    }

    private static func measureJPEG(_ bytes: [UInt8], _ path: String) throws(FileSourceError) -> FrameSize {
        var image = cjpeg_image()
        guard cjpeg_measure(bytes, bytes.count, &image) == 0 else {
            throw .brokenImage(path: path, reason: text(of: image.message))
        }
        return FrameSize(width: Int(image.width), height: Int(image.height))
    }

    /// The image as an I420 frame of another size: as large as fits, centered, the rest black, in the usual color space for
    /// that size.
    /// - Parameter size: even sides of at least 2.
    public func frame(of size: FrameSize) throws(FileSourceError) -> [UInt8] {
        let place = ImagePlace(of: self.size, in: size)
        // Scale before rotating, because photographs are much larger than frames.
        let stored = rotation.rotated(place.size)
        var pixels = try decoded()
        if stored != storedSize { pixels = try scaled(pixels, to: stored) }
        if !rotation.isIdentity { pixels = try upright(pixels, of: stored) }
        return FrameDrawing(size, VideoColors.usual(for: size)).draw(pixels, at: place)
    }

    /// Red, green, blue and an unused byte for each pixel. Transparent pixels become black.
    private func decoded() throws(FileSourceError) -> [UInt8] {
        var failure: String?
        let size = storedSize
        let pixels = [UInt8](unsafeUninitializedCapacity: 4 * size.pixelCount) { buffer, count in
            if isPNG {
                var image = cpng_image()
                (image.width, image.height) = (UInt32(size.width), UInt32(size.height))
                if cpng_decode(bytes, bytes.count, buffer.baseAddress, &image) != 0 {
                    failure = Self.text(of: image.message)
                }
            } else {
                var image = cjpeg_image()
                (image.width, image.height) = (UInt32(size.width), UInt32(size.height))
                if cjpeg_decode(bytes, bytes.count, buffer.baseAddress, &image) != 0 {
                    failure = Self.text(of: image.message)
                }
            }
            guard failure == nil else { return }
            count = 4 * size.pixelCount
            if isPNG { Self.multiplyByAlpha(UnsafeMutableBufferPointer(rebasing: buffer[..<count])) }
        }
        if let failure { throw .brokenImage(path: path, reason: failure) }
        return pixels
    }

    private func scaled(_ pixels: [UInt8], to target: FrameSize) throws(FileSourceError) -> [UInt8] {
        let size = storedSize
        var status: Int32 = 0
        let scaled = [UInt8](unsafeUninitializedCapacity: 4 * target.pixelCount) { buffer, count in
            // It treats all four bytes alike, whatever they are called.
            status = ARGBScale(
                pixels, Int32(4 * size.width), Int32(size.width), Int32(size.height), buffer.baseAddress,
                Int32(4 * target.width), Int32(target.width), Int32(target.height), kFilterBox)
            if status == 0 { count = 4 * target.pixelCount }
        }
        guard status == 0 else { throw .decoderFailed(call: "ARGBScale", status: Int(status)) }
        return scaled
    }

    private func upright(_ pixels: [UInt8], of stored: FrameSize) throws(FileSourceError) -> [UInt8] {
        let target = rotation.rotated(stored)
        // A negative height flips the image before it is rotated. A flip plus half a turn is a mirror image; a flip plus a
        // quarter turn is a mirrored quarter turn.
        let mode =
            switch rotation.angle {
            case .none: rotation.isMirrored ? kRotate180 : kRotate0
            case .clockwise90: kRotate90
            case .half: rotation.isMirrored ? kRotate0 : kRotate180
            case .clockwise270: kRotate270
            }
        let height = Int32(rotation.isMirrored ? -stored.height : stored.height)
        var status: Int32 = 0
        let upright = [UInt8](unsafeUninitializedCapacity: 4 * target.pixelCount) { buffer, count in
            status = ARGBRotate(
                pixels, Int32(4 * stored.width), buffer.baseAddress, Int32(4 * target.width), Int32(stored.width),
                height, mode)
            if status == 0 { count = 4 * target.pixelCount }
        }
        guard status == 0 else { throw .decoderFailed(call: "ARGBRotate", status: Int(status)) }
        return upright
    }

    private static func multiplyByAlpha(_ pixels: UnsafeMutableBufferPointer<UInt8>) {
        for place in stride(from: 0, to: pixels.count, by: 4) where pixels[place + 3] != 255 {
            let alpha = UInt32(pixels[place + 3])
            for channel in place..<place + 3 { pixels[channel] = UInt8((UInt32(pixels[channel]) * alpha + 127) / 255) }
        }
    }

    /// A C array of characters, which Swift imports as a tuple.
    private static func text<Characters>(of message: Characters) -> String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// The position of an image within a frame: as large as fits, centered. All numbers are even because of chroma.
struct ImagePlace: Hashable {
    let left: Int
    let top: Int
    let size: FrameSize

    /// - Parameters:
    ///   - image: at least 1x1.
    ///   - frame: even sides of at least 2.
    init(of image: FrameSize, in frame: FrameSize) {
        let isLimitedByWidth = image.width * frame.height >= frame.width * image.height
        let width = isLimitedByWidth ? frame.width : Self.even(image.width * frame.height, over: image.height)
        let height = isLimitedByWidth ? Self.even(image.height * frame.width, over: image.width) : frame.height
        size = FrameSize(width: min(width, frame.width), height: min(height, frame.height))
        left = (frame.width - size.width) / 4 * 2
        top = (frame.height - size.height) / 4 * 2
    }

    /// The quotient, rounded to the nearest even number; at least 2.
    private static func even(_ dividend: Int, over divisor: Int) -> Int {
        max(2, (dividend + divisor) / (2 * divisor) * 2)
    }
}
