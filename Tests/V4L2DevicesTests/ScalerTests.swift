import DevicePorts
import Glibc
import LinuxIO
import Media
import Testing

@testable import V4L2Devices

struct ImportedBuffersTests {
    @Test func descriptorKeepsItsBuffer() {
        var imported = ImportedBuffers()
        let all: Set = [0, 1, 2]
        let first = imported.index(for: 10, free: all)
        let second = imported.index(for: 11, free: all)
        #expect(first == 0 && second == 1)
        #expect(imported.index(for: 11, free: all) == second && imported.index(for: 10, free: all) == first)
    }

    @Test func surplusDescriptorsDisplaceOthers() {
        var imported = ImportedBuffers()
        for dmabuf in 10...12 { _ = imported.index(for: Int32(dmabuf), free: [0, 1, 2]) }
        // The descriptor's own buffer is with the driver, so it takes over another descriptor's buffer.
        #expect(imported.index(for: 10, free: [1, 2]) == 1)
        #expect(imported.index(for: 11, free: [0, 2]) == 0)
        #expect(imported.index(for: 13, free: []) == nil)
    }
}

struct ScalerTrialTests {
    private func painted(_ layout: FrameLayout) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: layout.byteCount)
        bytes.withUnsafeMutableBytes { ScalerTrial.paint(layout, into: $0) }
        return bytes
    }

    private func isPainted(_ layout: FrameLayout, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { ScalerTrial.isPainted(layout, in: $0) }
    }

    @Test(arguments: [PixelFormat.nv12, .i420]) func recognizesTheTestFrameInAnySize(_ format: PixelFormat) throws {
        let size = FrameSize(width: 48, height: 36)
        for layout in [
            FrameLayout(packed: format, size: size),
            try #require(FrameLayout(format: format, size: size, stride: 64, bufferSize: 64 * 36 * 2)),
        ] { #expect(isPainted(layout, painted(layout))) }
    }

    @Test(arguments: [PixelFormat.nv12, .i420]) func croppedFrameIsNotRecognized(_ format: PixelFormat) throws {
        let whole = FrameLayout(packed: format, size: FrameSize(width: 96, height: 72))
        let bytes = painted(whole)
        // The upper left quarter, read with the stride of the whole: the result of a driver that crops.
        let cut = FrameLayout(
            format: format, size: FrameSize(width: 48, height: 36), planes: whole.planes, byteCount: whole.byteCount)
        #expect(!isPainted(cut, bytes) && isPainted(whole, bytes))
        #expect(!isPainted(whole, [UInt8](repeating: 128, count: whole.byteCount)))
        #expect(!isPainted(whole, Array(bytes.dropLast())))
    }

    /// Swapped or unscaled chroma does not count as a scaled frame either.
    @Test func wrongChromaIsNotRecognized() {
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 48, height: 36))
        let bytes = painted(layout)
        let quarter = 24 * 18
        let luma = bytes.prefix(48 * 36)
        let exchanged = luma + bytes.suffix(quarter) + bytes.dropFirst(48 * 36).prefix(quarter)
        #expect(!isPainted(layout, Array(exchanged)))
        #expect(!isPainted(layout, luma + [UInt8](repeating: 128, count: 2 * quarter)))
    }
}

struct HardwareScalingErrorTests {
    @Test func errorsMentionTheScalerAndNotACamera() {
        let path = "/dev/video12"
        func said(_ error: V4L2Error) -> String { "\(HardwareScalingError(error, path: path))" }
        #expect(said(.gone(path: path)) == "the scaler at /dev/video12 is gone")
        #expect(said(.missing(path: path)) == "the scaler at /dev/video12 is gone")
        #expect(said(.noUsableFormat(path: path, asked: "a", offered: "b")) == "/dev/video12 has no a; it has b")
        #expect(said(.failed(path: path, SystemCallError("VIDIOC_QBUF", number: EFAULT))).contains("cannot read"))
        #expect(said(.failed(path: path, SystemCallError("VIDIOC_STREAMON", number: ESRCH))).contains("ESRCH"))
        #expect(said(.busy(path: path)).contains("in use by another program"))
    }
}
