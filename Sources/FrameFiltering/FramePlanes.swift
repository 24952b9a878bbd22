import DevicePorts
import Media

/// The planes of a frame. They are checked once to lie within its memory, and are valid as long as that is.
struct FramePlanes {
    enum Chroma: Hashable {
        /// U and V interleaved, as in NV12.
        case pairs
        /// U, then V, as in I420.
        case planes
    }

    static let sides = 2...8192
    private static let largestStride = 1 << 20
    private static let largestOffset = 1 << 32

    let size: FrameSize
    let chroma: Chroma
    private let base: UnsafeMutablePointer<UInt8>
    /// Y, U and V. For pairs, U and V share one plane.
    private let planes: (y: FrameLayout.Plane, u: FrameLayout.Plane, v: FrameLayout.Plane)

    init(_ bytes: UnsafeMutableRawBufferPointer, _ layout: FrameLayout) throws(FilteringError) {
        let planeCount: Int
        switch layout.format {
        case .nv12: (chroma, planeCount) = (.pairs, 2)
        case .i420: (chroma, planeCount) = (.planes, 3)
        default: throw .unsupportedFrame(layout)
        }
        guard layout.modifier == 0, layout.planes.count == planeCount, Self.sides.contains(layout.size.width),
            Self.sides.contains(layout.size.height)
        else { throw .unsupportedFrame(layout) }
        size = layout.size
        let chromaWidth = (size.width + 1) / 2
        for (index, plane) in layout.planes.enumerated() {
            let rowBytes = index == 0 ? size.width : chroma == .pairs ? 2 * chromaWidth : chromaWidth
            let rows = index == 0 ? size.height : (size.height + 1) / 2
            guard (0...Self.largestOffset).contains(plane.offset),
                (rowBytes...Self.largestStride).contains(plane.stride)
            else { throw .unsupportedFrame(layout) }
            guard plane.offset + plane.stride * (rows - 1) + rowBytes <= bytes.count else {
                throw .incompleteFrame(layout, byteCount: bytes.count)
            }
        }
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else {
            throw .incompleteFrame(layout, byteCount: bytes.count)
        }
        self.base = base
        planes = (layout.planes[0], layout.planes[1], layout.planes[planeCount - 1])
    }

    /// `size.width` samples.
    func luma(_ row: Int) -> UnsafeMutablePointer<UInt8> { base + planes.y.offset + row * planes.y.stride }

    var lumaStride: Int { planes.y.stride }
    var uStride: Int { planes.u.stride }
    var vStride: Int { planes.v.stride }

    /// Half as many samples, rounded up; or that many pairs.
    func u(_ row: Int) -> UnsafeMutablePointer<UInt8> { base + planes.u.offset + row * planes.u.stride }

    func v(_ row: Int) -> UnsafeMutablePointer<UInt8> {
        chroma == .pairs ? u(row) + 1 : base + planes.v.offset + row * planes.v.stride
    }

    /// The chroma rows for a range of luma rows that starts at an even row.
    static func chromaRows(of rows: Range<Int>) -> Range<Int> { rows.lowerBound / 2..<(rows.upperBound + 1) / 2 }
}
