import Bitstream
import CFreeType
import CJPEG
import CPNG
import FuzzDriver

@main enum FuzzImages {
    static func main() { fuzz(testOneInput) }
}

private let mostPixels = 1 << 18

/// Files from a card: an image, determined by its first byte, or else a font.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data, count > 0 else { return 0 }
    switch data[0] {
    case 0x89: decodePNG(data, count)
    case 0xFF: decodeJPEG(data, count)
    default: openFont(data, count)
    }
    return 0
}

private func decodePNG(_ data: UnsafePointer<UInt8>, _ count: Int) {
    var image = cpng_image()
    guard cpng_measure(data, count, &image) == 0 else { return }
    decode(image.width, image.height) { cpng_decode(data, count, $0, &image) }
}

private func decodeJPEG(_ data: UnsafePointer<UInt8>, _ count: Int) {
    _ = EXIF.rotation(ofJPEG: Array(UnsafeBufferPointer(start: data, count: count)))
    var image = cjpeg_image()
    guard cjpeg_measure(data, count, &image) == 0 else { return }
    decode(image.width, image.height) { cjpeg_decode(data, count, $0, &image) }
}

private func decode(_ width: UInt32, _ height: UInt32, _ decoder: (UnsafeMutablePointer<UInt8>?) -> Int32) {
    let pixels = Int(width).multipliedReportingOverflow(by: Int(height))
    precondition(width > 0 && height > 0 && !pixels.overflow, "an image without pixels")
    guard pixels.partialValue <= mostPixels else { return }
    // Nothing is written after the pixels.
    let guardBytes: [UInt8] = [0xA5, 0x5A, 0xA5, 0x5A]
    var rgba = [UInt8](repeating: 0, count: 4 * pixels.partialValue) + guardBytes
    _ = rgba.withUnsafeMutableBufferPointer { decoder($0.baseAddress) }
    precondition(Array(rgba.suffix(4)) == guardBytes, "data was written beyond the image")
}

private func openFont(_ data: UnsafePointer<UInt8>, _ count: Int) {
    var status: Int32 = 0
    guard let font = cfreetype_open(data, count, &status) else { return }
    defer { cfreetype_close(font) }
    var ascent = 0.0
    guard cfreetype_set_line_height(font, 24, &ascent) == 0 else { return }
    for character in "Ag1Ω".unicodeScalars {
        var (fill, border, advance) = (cfreetype_bitmap(), cfreetype_bitmap(), 0.0)
        guard cfreetype_draw(font, character.value, 1.5, &fill, &border, &advance) == 0 else { continue }
        for bitmap in [fill, border] {
            guard let samples = bitmap.samples else { continue }
            precondition(bitmap.width <= bitmap.stride && bitmap.width <= 4096 && bitmap.height <= 4096)
            // All of it is readable.
            var sum = 0
            for row in 0..<Int(bitmap.height) {
                for column in 0..<Int(bitmap.width) { sum &+= Int(samples[row * Int(bitmap.stride) + column]) }
            }
            precondition(sum >= 0)
        }
    }
}
