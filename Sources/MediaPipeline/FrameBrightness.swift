import Controls
import DevicePorts
import Media
import StreamLogic

extension Brightness {
    /// - Parameter source: a camera; if it measures light itself, its value is used.
    init(of frame: CapturedFrame, from source: any VideoSource) {
        self = source.controls?.lux.map { .lux($0) } ?? .luma(frame.meanLuma)
    }
}

extension CapturedFrame {
    private static let columns = 40
    private static let rows = 25

    /// The average of a thousand luma samples across the frame; green represents luma in RGB. 0 without memory.
    var meanLuma: Double {
        let (offset, step): (Int, Int) =
            switch layout.format {
            case .i420, .nv12: (0, 1)
            case .yuyv: (0, 2)
            case .uyvy: (1, 2)
            case .rgb888, .bgr888: (1, 3)
            case .bgra, .rgba, .bgrx: (1, 4)
            }
        guard let plane = layout.planes.first else { return 0 }
        return withBytes { bytes in
            var sum = 0
            var count = 0
            for row in 0..<Self.rows {
                let start = plane.offset + (2 * row + 1) * layout.size.height / (2 * Self.rows) * plane.stride + offset
                for column in 0..<Self.columns {
                    let place = start + (2 * column + 1) * layout.size.width / (2 * Self.columns) * step
                    guard bytes.indices.contains(place) else { continue }
                    sum += Int(bytes[place])
                    count += 1
                }
            }
            return count == 0 ? 0 : Double(sum) / Double(count)
        }
    }
}
