import Bitstream
import Media
import SeededNumbers
import Testing

@Suite("EXIF rotation") struct EXIFRotationTests {
    /// The first segments of a JPEG, with tags before and after the orientation.
    private struct SampleJPEG {
        var isLittleEndian = false
        var orientation = 6
        var type = 3
        var count = 1
        var directory = 8
        /// Segments before the Exif segment.
        var segments: [UInt8] = []

        private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }

        private func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }

        static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            let length = content.count + 2
            return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
        }

        var bytes: [UInt8] {
            let order = Array((isLittleEndian ? "II" : "MM").utf8)
            let entries =
                entry(0x0100, 4, 1, number(64, 4)) + entry(0x0112, type, count, number(orientation, 2) + [0, 0])
                + entry(0x0128, 3, 1, number(2, 2) + [0, 0])
            let tiff = order + number(42, 2) + number(directory, 4) + number(3, 2) + entries + number(0, 4)
            let exif = Self.segment(0xE1, Array("Exif\0\0".utf8) + tiff)
            return [0xFF, 0xD8] + segments + exif + [0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
        }

        var rotation: FrameRotation { EXIF.rotation(ofJPEG: bytes) }
    }

    private static let rotations = [
        FrameRotation(), FrameRotation(isMirrored: true), FrameRotation(.half),
        FrameRotation(.half, isMirrored: true), FrameRotation(.clockwise90, isMirrored: true),
        FrameRotation(.clockwise90), FrameRotation(.clockwise270, isMirrored: true), FrameRotation(.clockwise270),
    ]

    @Test(arguments: 1...8, [false, true])
    func eachValueIsReadInEitherByteOrder(orientation: Int, isLittleEndian: Bool) {
        let sample = SampleJPEG(isLittleEndian: isLittleEndian, orientation: orientation)
        #expect(sample.rotation == Self.rotations[orientation - 1])
    }

    @Test func earlierSegmentsAreSkipped() {
        var sample = SampleJPEG()
        let jfif = SampleJPEG.segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        let xmp = SampleJPEG.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8))
        sample.segments = jfif + xmp + [0xFF, 0xFF]
        #expect(sample.rotation == FrameRotation(.clockwise90))
    }

    @Test func invalidOrientationIsIgnored() {
        for orientation in [0, 9, 0xFFFF] {
            #expect(SampleJPEG(orientation: orientation).rotation.isIdentity)
        }
        #expect(SampleJPEG(type: 4).rotation.isIdentity)
        #expect(SampleJPEG(count: 2).rotation.isIdentity)
        for directory in [0, 7, 9, 1000, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            #expect(SampleJPEG(directory: directory).rotation.isIdentity)
        }
        var hidden = SampleJPEG()
        hidden.segments = SampleJPEG.segment(0xDA, [1])
        #expect(hidden.rotation.isIdentity, "it is behind the start of the scan")
    }

    @Test func searchIsLimited() {
        var sample = SampleJPEG()
        sample.segments = (0..<63).flatMap { _ in SampleJPEG.segment(0xFE, []) }
        #expect(sample.rotation == FrameRotation(.clockwise90))
        sample.segments += SampleJPEG.segment(0xFE, [])
        #expect(sample.rotation.isIdentity)
    }

    @Test func ourOwnImagesAreUpright() {
        let segment = SampleJPEG.segment(0xE1, EXIF(size: FrameSize(width: 64, height: 48)).segment)
        #expect(EXIF.rotation(ofJPEG: [0xFF, 0xD8] + segment).isIdentity)
    }

    @Test(arguments: [false, true])
    func damageNeverTraps(isLittleEndian: Bool) {
        var random = SeededGenerator(seed: 6)
        let bytes = SampleJPEG(isLittleEndian: isLittleEndian).bytes
        for length in 0..<bytes.count { _ = EXIF.rotation(ofJPEG: Array(bytes[..<length])) }
        for place in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)] {
                var damaged = bytes
                damaged[place] = value
                _ = EXIF.rotation(ofJPEG: damaged)
            }
        }
    }
}
