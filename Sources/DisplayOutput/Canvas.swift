import Media

/// Pixels of four bytes, blue first, to draw text on. Everything outside is clipped.
struct Canvas {
    let pixels: UnsafeMutableRawBufferPointer
    let size: FrameSize
    /// Bytes from one row to the next.
    let stride: Int

    /// - Parameter color: alpha in the highest byte, then red, green and blue. It replaces the pixels without blending.
    func fill(_ area: Area, _ color: UInt32) {
        let columns = max(0, area.left)..<max(0, area.left, min(size.width, area.left + area.size.width))
        let rows = max(0, area.top)..<max(0, area.top, min(size.height, area.top + area.size.height))
        guard !columns.isEmpty, let base = pixels.baseAddress, stride >= 4 * size.width,
            pixels.count >= stride * size.height
        else { return }
        for row in rows {
            (base + row * stride + 4 * columns.lowerBound).initializeMemory(
                as: UInt32.self, repeating: color, count: columns.count)
        }
    }
}
