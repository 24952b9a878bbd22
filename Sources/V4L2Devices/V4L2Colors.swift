import CLinux
import CV4LConvert
import Glibc
import Media

extension VideoColors {
    /// The colors that a driver reports; anything it leaves open follows from its color space (videodev2.h).
    /// - Returns: `nil` if it reports nothing.
    init?(_ format: v4l2_pix_format) {
        let space = v4l2_colorspace(format.colorspace)
        guard space != V4L2_COLORSPACE_DEFAULT, space != V4L2_COLORSPACE_RAW else { return nil }
        let usual = Self.usual(for: space)
        let encoding = v4l2_ycbcr_encoding(format.ycbcr_enc)
        let matrix: UInt8 =
            switch encoding {
            case V4L2_YCBCR_ENC_601, V4L2_YCBCR_ENC_XV601: 6
            case V4L2_YCBCR_ENC_709, V4L2_YCBCR_ENC_XV709: 1
            case V4L2_YCBCR_ENC_BT2020: 9
            case V4L2_YCBCR_ENC_SMPTE240M: 7
            default: usual.matrix
            }
        let transfer: UInt8 =
            switch v4l2_xfer_func(format.xfer_func) {
            case V4L2_XFER_FUNC_709: usual.primaries == 6 ? 6 : 1
            case V4L2_XFER_FUNC_SRGB: 13
            case V4L2_XFER_FUNC_SMPTE240M: 7
            case V4L2_XFER_FUNC_NONE: 8
            default: usual.transfer
            }
        let isFullRange =
            switch v4l2_quantization(format.quantization) {
            case V4L2_QUANTIZATION_FULL_RANGE: true
            case V4L2_QUANTIZATION_LIM_RANGE: false
            default: usual.isFullRange
            }
        self.init(primaries: usual.primaries, transfer: transfer, matrix: matrix, isFullRange: isFullRange)
    }

    private static func usual(for space: v4l2_colorspace) -> VideoColors {
        switch space {
        case V4L2_COLORSPACE_REC709: .bt709
        case V4L2_COLORSPACE_SRGB: VideoColors(primaries: 1, transfer: 13, matrix: 6, isFullRange: false)
        case V4L2_COLORSPACE_JPEG: .jpeg
        case V4L2_COLORSPACE_BT2020: VideoColors(primaries: 9, transfer: 1, matrix: 9, isFullRange: false)
        case V4L2_COLORSPACE_470_SYSTEM_BG: VideoColors(primaries: 5, transfer: 1, matrix: 6, isFullRange: false)
        default: .bt601
        }
    }
}
