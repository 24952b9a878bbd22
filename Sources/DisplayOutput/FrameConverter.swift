import CLibYUV
import DevicePorts
import Media

/// Converts frames for displays that cannot show them directly.
final class FrameConverter {
    /// Encoding the stream has priority. Ten preview frames per second are enough to see what is sent.
    static let interval = Duration.milliseconds(100)

    private let makeScaler: Display.MakeScaler
    /// For the layout of the latest frame.
    private var scaler: (any FrameScaler)?

    init(_ makeScaler: @escaping Display.MakeScaler) { self.makeScaler = makeScaler }

    /// Draws a frame into an RGB buffer, as large as fits, between black bars.
    func draw(_ frame: CapturedFrame, _ colors: VideoColors, on buffer: DrawnBuffer) throws(DisplayError) {
        let target = FrameSize(width: buffer.layout.size.width & ~1, height: buffer.layout.size.height & ~1)
        let scaled = try scaled(frame, to: target)
        let stride = buffer.layout.planes.first?.stride ?? 0
        let pixels = buffer.bytes
        let status: Int32 = scaled.withBytes { bytes in
            guard let planes = Planes(bytes, scaled.layout), let base = pixels.baseAddress else { return -1 }
            return clibyuv_to_argb(
                planes.pointers, planes.strides, base.assumingMemoryBound(to: UInt8.self), Int32(stride),
                Int32(target.width), Int32(target.height), colors.matrix == 1 ? 1 : 0, colors.isFullRange ? 1 : 0)
        }
        guard status == 0 else { throw .frameUnreadable(reason: "libyuv returned \(status)") }
    }

    /// Copies a frame in its own size, except for an odd row or column.
    /// - Parameter buffer: NV12 or I420.
    func copy(_ frame: CapturedFrame, to buffer: DrawnBuffer) throws(DisplayError) {
        let target = buffer.layout
        let scaled = try scaled(frame, to: target.size)
        guard let base = buffer.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            throw .frameUnreadable(reason: "the buffer has no memory")
        }
        let places = target.planes.map { base + $0.offset }
        let strides = target.planes.map { Int32($0.stride) }
        let (width, height) = (Int32(target.size.width), Int32(target.size.height))
        let status: Int32 = scaled.withBytes { bytes in
            guard let planes = Planes(bytes, scaled.layout), places.count >= 2 else { return -1 }
            let (y, u, v) = (planes.pointers[0], planes.pointers[1], planes.pointers[2])
            let (ofY, ofU, ofV) = (planes.strides[0], planes.strides[1], planes.strides[2])
            guard places.count == 3 else {
                return I420ToNV12(
                    y, ofY, u, ofU, v, ofV, places[0], strides[0], places[1], strides[1], width, height)
            }
            return I420Copy(
                y, ofY, u, ofU, v, ofV, places[0], strides[0], places[1], strides[1], places[2], strides[2], width,
                height)
        }
        guard status == 0 else { throw .frameUnreadable(reason: "libyuv returned \(status)") }
    }

    /// Converts a frame to I420.
    private func scaled(_ frame: CapturedFrame, to size: FrameSize) throws(DisplayError) -> CapturedFrame {
        do {
            if scaler?.source != frame.layout || scaler?.target.size != size {
                scaler = try makeScaler(frame.layout, size)
            }
            if let scaled = try scaler?.scale(frame) { return scaled }
        } catch {
            scaler = nil
            throw .frameUnreadable(reason: "\(error)")
        }
        throw .frameUnreadable(reason: "no memory")
    }

    /// The positions of I420's three planes.
    private struct Planes {
        let pointers: [UnsafePointer<UInt8>?]
        let strides: [Int32]

        init?(_ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout) {
            guard layout.format == .i420, layout.planes.count == 3, bytes.count >= layout.byteCount,
                let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            else { return nil }
            pointers = layout.planes.map { base + $0.offset }
            strides = layout.planes.map { Int32($0.stride) }
        }
    }
}
