import CLinux
import Glibc
import Media
import Testing

@testable import V4L2Devices

@Suite struct EncoderNodeTests {
    private func range(_ width: ClosedRange<UInt32>, _ height: ClosedRange<UInt32>) -> v4l2_frmsize_stepwise {
        var range = v4l2_frmsize_stepwise()
        (range.min_width, range.max_width) = (width.lowerBound, width.upperBound)
        (range.min_height, range.max_height) = (height.lowerBound, height.upperBound)
        return range
    }

    @Test func driversFrameSizesAreUsed() throws {
        let (smallest, largest) = try V4L2EncoderNode.sizes(
            range(32...1920, 16...1088), of: "bcm2835", at: "/dev/video11")
        #expect(smallest == FrameSize(width: 32, height: 16) && largest == FrameSize(width: 1920, height: 1088))
    }

    @Test(arguments: [true, false])
    func aBackwardSizeRangeIsAnError(isWidth: Bool) {
        var sizes = range(32...1920, 16...1088)
        if isWidth { sizes.max_width = 31 } else { sizes.max_height = 0 }
        do throws(V4L2Error) {
            let sizes = try V4L2EncoderNode.sizes(sizes, of: "bcm2835", at: "/dev/video11")
            Issue.record("\(sizes)")
        } catch {
            guard case .wrongKind(path: "/dev/video11", _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect("\(error)".contains("32x16"))
        }
    }
}
