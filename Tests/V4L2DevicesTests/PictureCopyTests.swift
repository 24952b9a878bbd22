import DevicePorts
import Media
import Testing

@testable import V4L2Devices

@Suite struct PictureCopyTests {
    /// 6x4 of I420: every sample differs from the others.
    private let i420: [UInt8] = Array(1...36)
    private let size = PictureSize(width: 6, height: 4)

    private func copied(_ bytes: [UInt8], _ source: FrameLayout, to target: FrameLayout) -> [UInt8]? {
        guard let copy = PictureCopy(from: source, to: target) else { return nil }
        var result = [UInt8](repeating: 0, count: target.byteCount)
        let isWhole = bytes.withUnsafeBytes { bytes in result.withUnsafeMutableBytes { copy.copy(bytes, to: $0) } }
        return isWhole ? result : nil
    }

    @Test func planesBecomePairsAndPairsPlanes() {
        let planes = FrameLayout(packed: .i420, size: size)
        let pairs = FrameLayout(packed: .nv12, size: size)
        let nv12 = i420[..<24] + [25, 31, 26, 32, 27, 33, 28, 34, 29, 35, 30, 36]
        #expect(copied(i420, planes, to: pairs) == Array(nv12))
        #expect(copied(Array(nv12), pairs, to: planes) == i420)
        #expect(copied(i420, planes, to: planes) == i420)
        #expect(copied(Array(nv12), pairs, to: pairs) == Array(nv12))
    }

    @Test func rowsGoToTheDriversPlaces() throws {
        let target = try #require(FrameLayout(format: .nv12, size: size, stride: 8, bufferSize: 48))
        let result = try #require(copied(i420, FrameLayout(packed: .i420, size: size), to: target))
        let expected: [UInt8] =
            (0..<4).flatMap { row in i420[(6 * row)..<(6 * row + 6)] + [0, 0] }
            + [25, 31, 26, 32, 27, 33, 0, 0, 28, 34, 29, 35, 30, 36, 0, 0]
        #expect(result == expected)
    }

    /// They have no second plane: what encoders take is made of them by the scaler.
    @Test(arguments: PixelFormat.allCases.filter { $0.bytesPerPixel != nil })
    func formatsOfOnePlaneAreRefused(format: PixelFormat) {
        let source = FrameLayout(packed: format, size: size)
        let target = FrameLayout(packed: .nv12, size: size)
        #expect(copied([UInt8](repeating: 0, count: source.byteCount), source, to: target) == nil)
        #expect(copied([UInt8](repeating: 0, count: target.byteCount), target, to: source) == nil)
    }

    @Test func memoryThatIsTooSmallIsRefused() {
        let layout = FrameLayout(packed: .i420, size: size)
        #expect(copied(Array(i420.dropLast()), layout, to: layout) == nil)
        let small = FrameLayout(packed: .i420, size: PictureSize(width: 4, height: 4))
        #expect(copied(i420, layout, to: small) == nil)
    }
}
