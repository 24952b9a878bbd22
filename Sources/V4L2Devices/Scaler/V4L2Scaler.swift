import DevicePorts
import LinuxIO
import Media

/// Scales frames with a device. It reads frames in their owner's memory and returns them in its own memory, which other devices
/// can read. Frames with another layout, or in unreadable memory, are refused.
public final class V4L2Scaler: FrameScaler {
    public let source: FrameLayout
    public let target: FrameLayout
    public let memoryKind = FrameMemoryKind.dmabuf
    public let passCount = 0

    private let path: String
    private let stream: ScalerStream
    private var imported = ImportedBuffers()
    private let buffers: [DMABuffer]
    private var leased = LeasedBuffers()

    /// As many as a camera may have, because each buffer is imported once.
    private static let importCount = 16
    /// Four in the encoder, one waiting for it, and one being written.
    private static let outputCount = 6
    /// The slowest scaler takes a few milliseconds.
    private static let patience = Duration.milliseconds(700)

    /// Opens the node and starts it.
    /// - Parameters:
    ///   - source: of the frames to scale.
    ///   - encoder: the encoder whose formats are wanted.
    public init(
        _ node: V4L2ScalerNode, from source: FrameLayout, to size: FrameSize, for encoder: V4L2EncoderNode
    ) throws(HardwareScalingError) {
        path = node.path
        do throws(V4L2Error) {
            stream = try ScalerStream(
                node, from: source, to: size, in: encoder.formats, inputs: (Self.importCount, .imported),
                outputs: (Self.outputCount, .exported))
        } catch {
            throw HardwareScalingError(error, path: node.path)
        }
        self.source = source
        target = stream.target
        let byteCount = target.byteCount
        buffers = stream.output.descriptors.map { DMABuffer($0, byteCount: byteCount) }
    }

    public func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        let scaled: BufferQueue.Dequeued?
        do throws(V4L2Error) {
            try leased.takeBack(of: BufferNumbers(0..<stream.output.bufferCount)) { index throws(V4L2Error) in
                try stream.output.enqueue(index)
            }
            guard stream.output.free.count < stream.output.bufferCount else { return nil }
            try submit(frame)
            scaled = try stream.takeFrame(until: MonotonicClock.now() + Self.patience)
        } catch {
            throw HardwareScalingError(error, path: path)
        }
        guard let scaled else { throw HardwareScalingError.silent(path: path, Self.patience) }
        guard !scaled.isBroken else { throw HardwareScalingError.brokenFrame(path: path) }
        let memory = leased.lease(buffers[scaled.index], index: scaled.index)
        return CapturedFrame(layout: target, captureTime: frame.captureTime, memory: memory)
    }

    private func submit(_ frame: CapturedFrame) throws(V4L2Error) {
        guard frame.layout == source, let dmabuf = frame.dmabuf,
            let index = imported.index(for: dmabuf, free: stream.input.free)
        else {
            throw .noUsableFormat(
                path: path, asked: "\(frame.layout.size) \(frame.layout.format) in memory of no device",
                offered: "\(source.size) \(source.format) in a device's")
        }
        try stream.input.enqueue(
            index, byteCount: source.byteCount, timestamp: frame.captureTime, dmabuf: dmabuf, length: stream.inputSize)
    }
}
