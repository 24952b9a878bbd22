import DevicePorts
import Glibc
import LinuxIO
import Media

/// A scaler's node with both queues streaming. Converts frames from one layout to another, one at a time.
final class ScalerStream {
    let source: FrameLayout
    let target: FrameLayout
    /// Bytes of an input buffer that the driver maps.
    let inputSize: Int
    let input: BufferQueue
    let output: BufferQueue
    private let device: V4L2Device

    /// - Parameters:
    ///   - formats: acceptable output formats. The source's format is used if it is among them, so that only the size changes.
    /// number of buffers, and who provides their memory.
    /// - Throws: `noUsableFormat` if the driver changes the formats.
    init(
        _ node: V4L2ScalerNode, from source: FrameLayout, to size: FrameSize, in formats: [PixelFormat],
        inputs: (count: Int, memory: BufferMemory), outputs: (count: Int, memory: BufferMemory)
    ) throws(V4L2Error) {
        let usable = node.outputs.filter { formats.contains($0) }
        guard source.modifier == 0, node.inputs.contains(source.format),
            let format = usable.first(where: { $0 == source.format }) ?? usable.first
        else {
            throw .noUsableFormat(
                path: node.path, asked: "\(source.format)", offered: "\(node.inputs) to \(node.outputs)")
        }
        device = try V4L2Device(at: node.path)
        self.source = source
        let types = QueueTypes(isMultiplanar: node.isMultiplanar)
        var given = QueueFormat(size: source.size, fourCC: source.format.v4l2FourCC, stride: source.planes[0].stride)
        let made = try Self.layout(&given, types.input, of: device, node)
        guard made.planes == source.planes else {
            throw .noUsableFormat(
                path: node.path, asked: "rows of \(source.planes[0].stride) bytes",
                offered: "rows of \(given.stride) bytes")
        }
        inputSize = given.byteCount
        var wanted = QueueFormat(size: size, fourCC: format.v4l2FourCC)
        wanted.colorspace = given.colorspace
        target = try Self.layout(&wanted, types.output, of: device, node)
        input = try BufferQueue(
            device, type: types.input, memory: inputs.memory, isMultiplanar: node.isMultiplanar,
            wantedCount: inputs.count)
        output = try BufferQueue(
            device, type: types.output, memory: outputs.memory, isMultiplanar: node.isMultiplanar,
            wantedCount: outputs.count)
        for index in 0..<output.bufferCount { try output.enqueue(index) }
        try input.start()
        try output.start()
    }

    /// Closing the node releases the buffers in any case. This does it in a defined order.
    deinit {
        input.stop()
        output.stop()
    }

    /// Sets a queue's format. The driver may choose only the stride.
    private static func layout(
        _ format: inout QueueFormat, _ type: UInt32, of device: V4L2Device, _ node: V4L2ScalerNode
    ) throws(V4L2Error) -> FrameLayout {
        let (size, fourCC) = (format.size, format.fourCC)
        try format.set(type, of: device, isMultiplanar: node.isMultiplanar)
        guard format.size == size, format.fourCC == fourCC, let pixelFormat = PixelFormat(v4l2: fourCC),
            let layout = FrameLayout(
                format: pixelFormat, size: size, stride: format.stride, bufferSize: format.byteCount)
        else {
            throw .noUsableFormat(
                path: node.path, asked: "\(size) \(fourCC)", offered: "\(format.size) \(format.fourCC)")
        }
        return layout
    }

    /// Waits until the submitted frame has been read and has come out.
    /// - Returns: its buffer, which must be enqueued again; `nil` if it did not arrive in time.
    func takeFrame(until deadline: MediaTimestamp) throws(V4L2Error) -> BufferQueue.Dequeued? {
        var isRead = false
        var frame: BufferQueue.Dequeued?
        while true {
            if !isRead { isRead = try input.dequeue() != nil }
            if frame == nil { frame = try output.dequeue() }
            if isRead, let frame { return frame }
            var missing: PollEvents = isRead ? [] : .writable
            if frame == nil { missing.insert(.readable) }
            guard try wait(for: missing, until: deadline) else { return nil }
        }
    }

    private enum Waited {
        case device
    }

    private func wait(for events: PollEvents, until deadline: MediaTimestamp) throws(V4L2Error) -> Bool {
        var waits = PollSet<Waited>()
        waits.add(.device, device.fileDescriptor, for: events)
        do throws(SystemCallError) {
            guard try waits.wait(until: deadline) else { return false }
        } catch {
            throw V4L2Error(device.path, error)
        }
        // A node that is gone reports an error forever.
        guard !waits.ready(.device).isDisjoint(with: events) else { throw .gone(path: device.path) }
        return true
    }
}
