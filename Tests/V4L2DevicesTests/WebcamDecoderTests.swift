import CLinux
import CV4LConvert
import DevicePorts
import Glibc
import Media
import Testing

@testable import V4L2Devices

/// Frames in webcams' formats, 32x16, the left half red and the right half blue.
@Suite struct WebcamDecoderTests {
    private let size = FrameSize(width: 32, height: 16)

    /// JPEG without Huffman tables, as most webcams send it, with chroma halved in both directions or in one.
    private static let halvedTwice =
        "ffd8ffdb0043000806060706070808080808080909090a0a0a090909090a0a0a0a0a0a0c0c0c0a0a0a0a0a0a0a0c0c0c0c0d0e0d0d0d0c0d"
        + "0e0e0f0f0f1212111115151519191fffc00011080010002003012200021100031100ffda000c03010002110311003f00e2e8a28af943f7"
        + "f390a28a2bfaa8fe6c3fffd9"
    private static let halvedOnce =
        "ffd8ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113"
        + "141515150c0f171816141812141514ffdb00430103040405040509050509140d0b0d14141414141414141414141414141414141414141414"
        + "14141414141414141414141414141414141414141414141414141414ffc00011080010002003012100021101031101ffda000c0301000211"
        + "0311003f00f9d28afc30ff0054cf02a2bfdc63fc743df68aff000e4ff62cf02a2bfdc63fc743ffd9"

    /// For a camera that has a name and no quirks.
    private static func converter() -> OpaquePointer? {
        let operations = UnsafeMutablePointer<libv4l_dev_ops>.allocate(capacity: 1)
        operations.initialize(to: libv4l_dev_ops())
        operations.pointee.ioctl = { _, _, request, _ in
            guard request == clinux_vidioc_querycap else {
                errno = EINVAL
                return -1
            }
            return 0
        }
        // The converter uses this for its whole life; the test process ends soon.
        return v4lconvert_create_with_dev_ops(-1, nil, operations)
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.utf8.map { (digit: UInt8) -> UInt8 in digit < 58 ? digit - 48 : digit - 87 }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) { bytes.append(digits[index] << 4 | digits[index + 1]) }
        return bytes
    }

    private func decoded(_ format: String, _ bytes: [UInt8], stride: Int = 0) throws -> [UInt8] {
        var source = v4l2_format()
        source.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        source.fmt.pix.width = UInt32(size.width)
        source.fmt.pix.height = UInt32(size.height)
        source.fmt.pix.pixelformat = FourCC(format).rawValue
        source.fmt.pix.bytesperline = UInt32(stride)
        source.fmt.pix.sizeimage = UInt32(max(bytes.count, 4096))
        let decoder = try WebcamDecoder(path: "camera", source: source, converter: Self.converter())
        #expect(decoder.layout == FrameLayout(packed: .i420, size: size))
        var frame = [UInt8](repeating: 0, count: decoder.layout.byteCount)
        try frame.withUnsafeMutableBytes { target in
            try bytes.withUnsafeBytes { try decoder.decode($0, into: target) }
        }
        return frame
    }

    /// The samples in the middle of both halves, in the order Y, U, V.
    private func colors(_ frame: [UInt8]) -> [[UInt8]] {
        [4, 12].map { (chroma: Int) -> [UInt8] in
            [frame[8 * 32 + 2 * chroma], frame[512 + 4 * 16 + chroma], frame[640 + 4 * 16 + chroma]]
        }
    }

    private func expect(_ frame: [UInt8], _ wanted: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) {
        for (found, wanted) in zip(colors(frame).flatMap { $0 }, wanted.flatMap { $0 }) {
            #expect(abs(Int(found) - Int(wanted)) <= 3, "\(colors(frame))", sourceLocation: sourceLocation)
        }
    }

    /// Red and blue in JFIF: full range.
    private static let red: [UInt8] = [76, 85, 255]
    private static let blue: [UInt8] = [29, 255, 107]

    @Test(arguments: ["MJPG", "JPEG"], [halvedTwice, halvedOnce])
    func decodesWebcamJPEGWithoutHuffmanTables(format: String, frame: String) throws {
        expect(try decoded(format, Self.bytes(frame)), [Self.red, Self.blue])
    }

    @Test func damagedFrameIsRefusedAndTheNextOneIsUnaffected() throws {
        let whole = Self.bytes(Self.halvedTwice)
        for length in [0, 1, 20, 70, 100] {
            #expect(throws: V4L2Error.self) { try decoded("MJPG", Array(whole[..<length])) }
        }
        expect(try decoded("MJPG", whole), [Self.red, Self.blue])
    }

    /// One plane whose left half has one value and whose right half has the other.
    private func plane(_ left: UInt8, _ right: UInt8, width: Int, rows: Int) -> [UInt8] {
        let half = width / 2
        let row = [UInt8](repeating: left, count: half) + [UInt8](repeating: right, count: half)
        return [[UInt8]](repeating: row, count: rows).flatMap { $0 }
    }

    @Test func packedAndPlanarChromaOrderIsPreserved() throws {
        let left: [UInt8] = [82, 90, 240]
        let right: [UInt8] = [41, 240, 110]
        var row: [UInt8] = []
        for half in [left, right] {
            for _ in 0..<8 { row += [half[0], half[2], half[0], half[1]] }
        }
        var packed: [UInt8] = []
        for _ in 0..<16 { packed += row }
        expect(try decoded("YVYU", packed, stride: 64), [left, right])
        let luma = plane(left[0], right[0], width: 32, rows: 16)
        let u = plane(left[1], right[1], width: 16, rows: 8)
        let v = plane(left[2], right[2], width: 16, rows: 8)
        expect(try decoded("YV12", luma + v + u, stride: 32), [left, right])
    }

    /// The library must know every format that the decoder lists; an unknown one would never give a frame.
    @Test(arguments: WebcamDecoder.formats)
    func libraryKnowsEveryFormat(format: FourCC) {
        do {
            _ = try decoded("\(format)", [UInt8](repeating: 0, count: 8192), stride: 32)
        } catch {
            #expect(!"\(error)".hasSuffix("Unknown src format in conversion\n"), "\(format)")
        }
    }
}
