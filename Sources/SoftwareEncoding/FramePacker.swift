import CLibYUV
import DevicePorts
import Media

/// Writes frames without padding. Any thread.
public enum FramePacker {
    /// Writes NV12 or YUYV as it is.
    /// - Returns: how many bytes of the target are the frame.
    public static func copy(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) -> Int {
        let packed = FrameLayout(packed: layout.format, size: layout.size)
        guard [.nv12, .yuyv].contains(layout.format), layout.planes.count == packed.planes.count,
            bytes.count >= layout.byteCount, target.count >= packed.byteCount,
            let base = bytes.bindMemory(to: UInt8.self).baseAddress,
            let room = target.bindMemory(to: UInt8.self).baseAddress
        else { throw .incompleteFrame(layout, byteCount: min(bytes.count, target.count)) }
        for (index, (source, plane)) in zip(layout.planes, packed.planes).enumerated() {
            let rows = index == 0 ? layout.size.height : (layout.size.height + 1) / 2
            CopyPlane(
                base + source.offset, Int32(source.stride), room + plane.offset, Int32(plane.stride),
                Int32(plane.stride), Int32(rows))
        }
        return packed.byteCount
    }

    /// Writes I420 in another format.
    /// - Parameters:
    ///   - layout: of I420.
    ///   - format: NV12 or YUYV.
    /// - Returns: how many bytes of the target are the frame.
    public static func pack(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, as format: PixelFormat,
        into target: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) -> Int {
        let packed = FrameLayout(packed: format, size: layout.size)
        guard layout.format == .i420, layout.planes.count == 3, bytes.count >= layout.byteCount,
            target.count >= packed.byteCount, let base = bytes.bindMemory(to: UInt8.self).baseAddress,
            let room = target.bindMemory(to: UInt8.self).baseAddress
        else { throw .incompleteFrame(layout, byteCount: min(bytes.count, target.count)) }
        let places = layout.planes.map { base + $0.offset }
        let strides = layout.planes.map { Int32($0.stride) }
        let (width, height) = (Int32(layout.size.width), Int32(layout.size.height))
        let rows = packed.planes.map { Int32($0.stride) }
        let status: Int32 =
            switch format {
            case .nv12:
                I420ToNV12(
                    places[0], strides[0], places[1], strides[1], places[2], strides[2], room, rows[0],
                    room + packed.planes[1].offset, rows[1], width, height)
            case .yuyv:
                I420ToYUY2(
                    places[0], strides[0], places[1], strides[1], places[2], strides[2], room, rows[0], width, height)
            default: -1
            }
        guard status == 0 else { throw .libraryFailed(call: "libyuv pack", status: Int(status), reason: nil) }
        return packed.byteCount
    }
}
