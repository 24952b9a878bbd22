import DevicePorts
import Filters
import Media
import SeededNumbers

@testable import FrameFiltering

/// A frame with guard bytes around its planes and after its rows.
struct FrameInMemory {
    let layout: FrameLayout
    var bytes: [UInt8]

    /// - Parameter padding: bytes after each row, and between the planes.
    init(_ format: PixelFormat, _ width: Int, _ height: Int, padding: Int = 0, _ random: inout SeededGenerator) {
        let (half, rows) = ((width + 1) / 2, (height + 1) / 2)
        let sizes =
            format == .nv12 ? [(width, height), (2 * half, rows)] : [(width, height), (half, rows), (half, rows)]
        var (planes, end): ([FrameLayout.Plane], Int) = ([], padding)
        for (width, height) in sizes {
            planes.append(FrameLayout.Plane(offset: end, stride: width + padding))
            end += (width + padding) * height
        }
        layout = FrameLayout(
            format: format, size: FrameSize(width: width, height: height), planes: planes, byteCount: end)
        bytes = Array(random.bytes(end + padding).prefix(end + padding))
    }

    /// Packed.
    init(_ format: PixelFormat, _ size: FrameSize, y: UInt8, u: UInt8, v: UInt8) {
        layout = FrameLayout(packed: format, size: size)
        let chroma = (layout.byteCount - size.pixelCount) / 2
        bytes = [UInt8](repeating: y, count: size.pixelCount)
        bytes +=
            format == .nv12
            ? (0..<2 * chroma).map { $0 % 2 == 0 ? u : v }
            : [UInt8](repeating: u, count: chroma) + [UInt8](repeating: v, count: chroma)
    }

    mutating func apply(_ pass: FilterPass, _ colors: VideoColors? = nil, _ fields: TextFields = TextFields()) throws {
        let result = bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(FilteringError) in try pass.apply(to: bytes, layout, colors, fields) }
        }
        try result.get()
    }

    mutating func apply(_ filters: String...) throws {
        try apply(FilterPass(LoadedFilters(FilterChain(parsing: filters))))
    }

    func luma(_ x: Int, _ y: Int) -> UInt8 { bytes[layout.planes[0].offset + y * layout.planes[0].stride + x] }

    func chroma(_ x: Int, _ y: Int) -> [UInt8] {
        guard layout.format == .i420 else {
            let place = layout.planes[1].offset + y * layout.planes[1].stride + 2 * x
            return Array(bytes[place..<place + 2])
        }
        return layout.planes.dropFirst().map { bytes[$0.offset + y * $0.stride + x] }
    }

    /// Y, U and V without padding; U and V separate.
    var planes: [[UInt8]] {
        let size = layout.size
        let (half, rows) = ((size.width + 1) / 2, (size.height + 1) / 2)
        let lightness = (0..<size.height).flatMap { y in (0..<size.width).map { luma($0, y) } }
        let pairs = (0..<rows).flatMap { y in (0..<half).map { chroma($0, y) } }
        return [lightness, pairs.map { $0[0] }, pairs.map { $0[1] }]
    }

    /// Which bytes are samples of a plane.
    var isSample: [Bool] {
        var isSample = [Bool](repeating: false, count: bytes.count)
        let half = (layout.size.width + 1) / 2
        for (index, plane) in layout.planes.enumerated() {
            let width = index == 0 ? layout.size.width : layout.format == .nv12 ? 2 * half : half
            for row in 0..<(index == 0 ? layout.size.height : (layout.size.height + 1) / 2) {
                let start = plane.offset + row * plane.stride
                for place in start..<start + width { isSample[place] = true }
            }
        }
        return isSample
    }
}
