import DevicePorts
import Media

/// Copies a frame's samples row by row from one layout to another of the same size. Converts between NV12 and I420.
struct FrameCopy {
    private let source: FrameLayout
    private let target: FrameLayout

    /// - Returns: `nil` if the layouts hold different kinds of frames.
    init?(from source: FrameLayout, to target: FrameLayout) {
        guard source.size.width <= target.size.width, source.size.height <= target.size.height, source.modifier == 0,
            source.format.isPlanar, target.format.isPlanar
        else { return nil }
        self.source = source
        self.target = target
    }

    /// - Returns: false if a buffer is too small for its layout.
    func copy(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) -> Bool {
        guard bytes.count >= source.byteCount, memory.count >= target.byteCount else { return false }
        let size = source.size
        copyRows(bytes, 0, memory, 0, byteCount: size.width, rows: size.height)
        let columns = (size.width + 1) / 2
        let rows = (size.height + 1) / 2
        switch (source.format, target.format) {
        case (.nv12, .nv12): copyRows(bytes, 1, memory, 1, byteCount: 2 * columns, rows: rows)
        case (.i420, .i420):
            for plane in 1...2 { copyRows(bytes, plane, memory, plane, byteCount: columns, rows: rows) }
        case (.i420, .nv12):
            for row in 0..<rows {
                let line = target.planes[1].offset + row * target.planes[1].stride
                let u = source.planes[1].offset + row * source.planes[1].stride
                let v = source.planes[2].offset + row * source.planes[2].stride
                for column in 0..<columns {
                    memory[line + 2 * column] = bytes[u + column]
                    memory[line + 2 * column + 1] = bytes[v + column]
                }
            }
        default:
            for row in 0..<rows {
                let line = source.planes[1].offset + row * source.planes[1].stride
                let u = target.planes[1].offset + row * target.planes[1].stride
                let v = target.planes[2].offset + row * target.planes[2].stride
                for column in 0..<columns {
                    memory[u + column] = bytes[line + 2 * column]
                    memory[v + column] = bytes[line + 2 * column + 1]
                }
            }
        }
        return true
    }

    private func copyRows(
        _ bytes: UnsafeRawBufferPointer, _ from: Int, _ memory: UnsafeMutableRawBufferPointer, _ to: Int,
        byteCount: Int, rows: Int
    ) {
        for row in 0..<rows {
            let read = source.planes[from].offset + row * source.planes[from].stride
            let write = target.planes[to].offset + row * target.planes[to].stride
            UnsafeMutableRawBufferPointer(rebasing: memory[write..<write + byteCount])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[read..<read + byteCount]))
        }
    }
}
