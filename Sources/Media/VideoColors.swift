/// What the numbers of a frame's samples mean, by the code points of ITU-T H.273, which H.264 uses as they are.
public struct VideoColors: Hashable, Sendable {
    public let primaries: UInt8
    public let transfer: UInt8
    /// How luma and chroma come from red, green and blue.
    public let matrix: UInt8
    /// Luma from 0 to 255; otherwise, as in television, from 16 to 235.
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
    /// JPEG's (sYCC): sRGB's colours, BT.601's matrix, full range.
    public static let jpeg = VideoColors(primaries: 1, transfer: 13, matrix: 6, isFullRange: true)

    /// What players take frames of that size for that say nothing of their colours.
    public static func usual(for size: FrameSize) -> VideoColors { size.height >= 720 ? .bt709 : .bt601 }
}
