import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A scaler of this machine, identified by its capabilities: any V4L2 memory-to-memory device with raw formats on both sides
/// that has passed a scaling test.
public struct V4L2ScalerNode: Hashable, Sendable {
    public let path: String
    /// As reported by the driver.
    public let name: String
    let isMultiplanar: Bool
    /// Planar formats for input and output, in the driver's order.
    let inputs: [PixelFormat]
    let outputs: [PixelFormat]

    /// How long a driver may take to identify itself and pass the test.
    private static let answerTimeout = Duration.seconds(2)
    /// If one node hangs, others often do too, so later nodes get less time.
    private static let laterAnswerTimeout = Duration.milliseconds(300)

    /// The first scaler in the order of node numbers. A hanging driver delays the caller by seconds at most.
    public static func first() -> V4L2ScalerNode? {
        var timeout = answerTimeout
        for path in V4L2Device.videoNodes {
            do throws(V4L2Error) {
                return try V4L2Error.bounded(path, timeout: timeout) {
                    Result { () throws(V4L2Error) in
                        let node = try V4L2ScalerNode(V4L2Device(at: path))
                        try ScalerTrial.run(on: node)
                        return node
                    }
                }
            } catch {
                if case .blocked = error { timeout = laterAnswerTimeout }
            }
        }
        return nil
    }

    private init(_ device: V4L2Device) throws(V4L2Error) {
        path = device.path
        name = device.name
        isMultiplanar = try device.isMultiplanarMemoryToMemory()
        let types = QueueTypes(isMultiplanar: isMultiplanar)
        inputs = device.formats(of: types.input).compactMap { PixelFormat(v4l2: $0) }.filter(\.isPlanar)
        outputs = device.formats(of: types.output).compactMap { PixelFormat(v4l2: $0) }.filter(\.isPlanar)
        guard !inputs.isEmpty, !outputs.isEmpty else {
            throw .wrongKind(path: path, reason: "\(name) does not convert raw frames")
        }
    }
}
