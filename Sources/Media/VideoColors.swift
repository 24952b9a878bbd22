/// The meaning of a frame's sample values, by the code points of ITU-T H.273, which H.264 uses unchanged.
public struct VideoColors: Hashable, Sendable {
    public let primaries: UInt8
    public let transfer: UInt8
    /// The conversion from red, green and blue to luma and chroma.
    public let matrix: UInt8
    /// Luma ranges from 0 to 255; otherwise from 16 to 235, as in television.
    public let isFullRange: Bool

    public init(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    /// High definition (BT.709).
    public static let bt709 = VideoColors(primaries: 1, transfer: 1, matrix: 1, isFullRange: false)
    /// Standard definition (BT.601 with 525 lines, SMPTE 170M).
    public static let bt601 = VideoColors(primaries: 6, transfer: 6, matrix: 6, isFullRange: false)
    /// JPEG (sYCC): sRGB's colors, BT.601's matrix, full range.
    public static let jpeg = VideoColors(primaries: 1, transfer: 13, matrix: 6, isFullRange: true)

    /// The colors that players assume for frames of that size without color information.
    public static func usual(for size: FrameSize) -> VideoColors { size.height >= 720 ? .bt709 : .bt601 }
}
