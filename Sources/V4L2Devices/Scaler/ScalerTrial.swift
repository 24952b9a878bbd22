import DevicePorts
import LinuxIO
import Media

/// Tests whether a device scales, with one frame of four fields in its own memory. Some drivers accept formats of two sizes
/// that they cannot convert, then fail at the start or crop the frame.
enum ScalerTrial {
    private static let source = FrameSize(width: 640, height: 480)
    private static let size = FrameSize(width: 320, height: 240)
    private static let patience = Duration.seconds(1)
    /// Tolerated error of a sample in the middle of a field, because the device may convert colors.
    private static let tolerance = 12

    /// - Throws: `wrongKind` if the frame does not come out, or looks different.
    static func run(on node: V4L2ScalerNode) throws(V4L2Error) {
        let given = FrameLayout(packed: node.inputs[0], size: source)
        let stream = try ScalerStream(
            node, from: given, to: size, in: node.outputs, inputs: (1, .driver), outputs: (1, .driver))
        guard let target = stream.input.mappings.first?.bytes, target.count >= given.byteCount else {
            throw .wrongKind(path: node.path, reason: "\(node.name) has too little memory for a frame")
        }
        paint(given, into: target)
        try stream.input.enqueue(0, byteCount: given.byteCount)
        guard let frame = try stream.takeFrame(until: MonotonicClock.now() + patience), !frame.isBroken else {
            throw .wrongKind(path: node.path, reason: "\(node.name) gives no frame")
        }
        guard isPainted(stream.target, in: stream.output.bytes(of: frame)) else {
            throw .wrongKind(path: node.path, reason: "\(node.name) does not scale")
        }
    }

    /// - Parameter bytes: as many as the layout needs.
    static func paint(_ layout: FrameLayout, into bytes: UnsafeMutableRawBufferPointer) {
        for component in FrameComponent.allCases { paint(component, of: layout, into: bytes) }
    }

    /// Whether a frame of any size shows the four fields.
    static func isPainted(_ layout: FrameLayout, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= layout.byteCount && FrameComponent.allCases.allSatisfy { shows($0, of: layout, in: bytes) }
    }

    /// A component's value in each field. Luma differs in all four; one chroma component differs between left and right, the
    /// other between top and bottom.
    private static func value(_ component: FrameComponent, isRight: Bool, isLower: Bool) -> UInt8 {
        switch component {
        case .luma: UInt8(48 + (isRight ? 48 : 0) + (isLower ? 96 : 0))
        case .blueDifference: isRight ? 160 : 96
        case .redDifference: isLower ? 160 : 96
        }
    }

    private static func paint(
        _ component: FrameComponent, of layout: FrameLayout, into bytes: UnsafeMutableRawBufferPointer
    ) {
        let place = component.place(in: layout)
        for row in 0..<place.rows {
            for column in 0..<place.columns {
                bytes[place.offset(column, row)] = value(
                    component, isRight: column >= place.columns / 2, isLower: row >= place.rows / 2)
            }
        }
    }

    private static func shows(
        _ component: FrameComponent, of layout: FrameLayout, in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let place = component.place(in: layout)
        for (isRight, column) in [(false, place.columns / 4), (true, place.columns * 3 / 4)] {
            for (isLower, row) in [(false, place.rows / 4), (true, place.rows * 3 / 4)] {
                let wanted = value(component, isRight: isRight, isLower: isLower)
                guard abs(Int(bytes[place.offset(column, row)]) - Int(wanted)) <= tolerance else { return false }
            }
        }
        return true
    }
}

/// The component that a sample of a planar frame belongs to.
private enum FrameComponent: CaseIterable {
    case luma, blueDifference, redDifference

    /// The position of its samples.
    struct Place {
        let columns: Int
        let rows: Int
        let start: Int
        let step: Int
        let stride: Int

        func offset(_ column: Int, _ row: Int) -> Int { start + row * stride + column * step }
    }

    func place(in layout: FrameLayout) -> Place {
        let size = layout.size
        guard self != .luma else {
            let plane = layout.planes[0]
            return Place(columns: size.width, rows: size.height, start: plane.offset, step: 1, stride: plane.stride)
        }
        let number = self == .blueDifference ? 0 : 1
        let isInterleaved = layout.format == .nv12
        let plane = layout.planes[isInterleaved ? 1 : 1 + number]
        return Place(
            columns: size.width / 2, rows: size.height / 2, start: plane.offset + (isInterleaved ? number : 0),
            step: isInterleaved ? 2 : 1, stride: plane.stride)
    }
}
