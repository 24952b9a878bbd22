import DevicePorts
import Media
import Testing

@testable import V4L2Devices

@Suite struct FrameCopyTests {
    private let size = FrameSize(width: 6, height: 4)
    /// A 6x4 frame in I420 and in NV12; all samples differ.
    private let i420: [UInt8]
    private let nv12: [UInt8]

    init() {
        i420 = (1...36).map { UInt8($0) }
        nv12 = i420.prefix(24) + [25, 31, 26, 32, 27, 33, 28, 34, 29, 35, 30, 36]
    }

    private func copied(_ bytes: [UInt8], _ source: FrameLayout, to target: FrameLayout) -> [UInt8]? {
        guard let copy = FrameCopy(from: source, to: target) else { return nil }
        var result = [UInt8](repeating: 0, count: target.byteCount)
        var isWhole = false
        bytes.withUnsafeBytes { bytes in
            result.withUnsafeMutableBytes { memory in isWhole = copy.copy(bytes, to: memory) }
        }
        return isWhole ? result : nil
    }

    @Test func i420AndNV12AreConvertedIntoEachOther() {
        let planes = FrameLayout(packed: .i420, size: size)
        let pairs = FrameLayout(packed: .nv12, size: size)
        #expect(copied(i420, planes, to: pairs) == nv12)
        #expect(copied(nv12, pairs, to: planes) == i420)
        #expect(copied(i420, planes, to: planes) == i420)
        #expect(copied(nv12, pairs, to: pairs) == nv12)
    }

    @Test func rowsFollowTheDriversStride() throws {
        let target = try #require(FrameLayout(format: .nv12, size: size, stride: 8, bufferSize: 48))
        var expected: [UInt8] = []
        for row in 0..<6 {
            expected += nv12[(6 * row)..<(6 * row + 6)]
            expected += [0, 0]
        }
        #expect(copied(i420, FrameLayout(packed: .i420, size: size), to: target) == expected)
    }

    /// They have no second plane. The scaler converts them for encoders.
    @Test func singlePlaneFormatsAreRefused() {
        let pairs = FrameLayout(packed: .nv12, size: size)
        for format in PixelFormat.allCases where format.bytesPerPixel != nil {
            let packed = FrameLayout(packed: format, size: size)
            let bytes = [UInt8](repeating: 0, count: packed.byteCount)
            #expect(copied(bytes, packed, to: pairs) == nil)
            #expect(copied(nv12, pairs, to: packed) == nil)
        }
    }

    @Test func memoryThatIsTooSmallIsRefused() {
        let layout = FrameLayout(packed: .i420, size: size)
        #expect(copied([UInt8](i420.dropLast()), layout, to: layout) == nil)
        let small = FrameLayout(packed: .i420, size: FrameSize(width: 4, height: 4))
        #expect(copied(i420, layout, to: small) == nil)
    }
}
