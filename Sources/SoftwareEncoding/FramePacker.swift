import CLibYUV
import DevicePorts
import Media

/// Writes frames without padding. Any thread.
public enum FramePacker {
    /// Copies NV12 or YUYV unchanged.
    /// - Returns: number of bytes written.
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

    /// Converts I420 to another format.
    /// - Parameters:
    ///   - layout: I420.
    ///   - format: NV12 or YUYV.
    /// - Returns: number of bytes written.
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

    /// Copies an unpadded frame to where a driver expects its planes. Gaps between the planes stay unchanged.
    /// - Parameters:
    ///   - bytes: I420 or NV12 in the layout `packed`.
    ///   - layout: the target's layout, of the same format and size.
    public static func spread(
        _ bytes: [UInt8], _ packed: FrameLayout, into target: UnsafeMutableRawBufferPointer, _ layout: FrameLayout
    ) throws(VideoEncodingError) {
        guard layout.format.isPlanar, layout.format == packed.format, layout.size == packed.size,
            layout.planes.count == packed.planes.count, bytes.count >= packed.byteCount,
            let room = target.bindMemory(to: UInt8.self).baseAddress
        else { throw .incompleteFrame(layout, byteCount: min(bytes.count, target.count)) }
        let rows = [layout.size.height] + [Int](repeating: (layout.size.height + 1) / 2, count: 2)
        for (index, (plane, source)) in zip(layout.planes, packed.planes).enumerated() {
            let end = plane.offset + (rows[index] - 1) * plane.stride + source.stride
            guard plane.offset >= 0, plane.stride >= source.stride, end <= target.count else {
                throw .incompleteFrame(layout, byteCount: target.count)
            }
        }
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            for (index, (plane, source)) in zip(layout.planes, packed.planes).enumerated() {
                CopyPlane(
                    base + source.offset, Int32(source.stride), room + plane.offset, Int32(plane.stride),
                    Int32(source.stride), Int32(rows[index]))
            }
        }
    }
}
