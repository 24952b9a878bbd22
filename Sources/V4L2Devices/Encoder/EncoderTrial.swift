import DevicePorts
import LinuxIO
import Media

/// A moment's use of an encoder with black frames in memory of its own: whether it starts, and gives a frame.
///
/// It has the node open for itself, so that nothing of it is left in the stream's context. Closing one that failed may
/// take seconds; that happens when this is dropped.
final class EncoderTrial {
    private let path: String
    private let device: V4L2Device
    private let formats: EncoderFormats
    private let queues: EncoderQueues

    /// So long after the first frame one must have come out. The slowest encoders take 100 ms for it.
    private static let patience = Duration.milliseconds(1500)
    /// An encoder may leave the first frames out: another one goes in after so long.
    private static let interval = Duration.milliseconds(100)

    /// - Parameter plan: of the stream that is to follow.
    init(
        _ encoder: V4L2EncoderNode, _ configuration: VideoEncoderConfiguration, _ layout: FrameLayout,
        _ plan: EncoderMemoryPlan
    ) throws(HardwareEncodingError) {
        path = encoder.path
        do throws(V4L2Error) {
            device = try V4L2Device(at: encoder.path)
        } catch {
            throw HardwareEncodingError(error, path: encoder.path)
        }
        try EncoderControls(device: device).apply(configuration)
        formats = try EncoderFormats(device, encoder: encoder, configuration: configuration, layout: layout)
        queues = try EncoderQueues(device, encoder, formats, isDMABUF: false, plans: [plan])
    }

    deinit { queues.stop() }

    /// - Throws: `silent` when nothing comes out; `memoryRefused` when the driver starts for want of memory.
    func run() throws(HardwareEncodingError) {
        let start = MonotonicClock.now()
        var number: Int64 = 0
        while MonotonicClock.now() < start + Self.patience {
            do throws(V4L2Error) {
                while try queues.input.dequeue() != nil {}
                if let index = queues.input.free.first { try submitBlack(index, number) }
                number += 1
                let next = start + Self.interval * Int(number)
                while MonotonicClock.now() < next {
                    if try takeFrame() { return }
                    try wait(until: next)
                }
            } catch {
                throw queues.startingError(error, path: path, formats)
            }
        }
        throw .silent(path: path, Self.patience)
    }

    private func submitBlack(_ index: Int, _ number: Int64) throws(V4L2Error) {
        let bytes = queues.input.mappings[index].bytes
        let luma = min(formats.input.planes[1].offset, bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: bytes[..<luma]).initializeMemory(as: UInt8.self, repeating: 16)
        UnsafeMutableRawBufferPointer(rebasing: bytes[luma...]).initializeMemory(as: UInt8.self, repeating: 128)
        try queues.input.enqueue(
            index, byteCount: formats.input.byteCount, timestamp: MediaTimestamp(milliseconds: number * 100))
    }

    /// - Returns: whether anything has come that is no error; what it is does not matter here.
    private func takeFrame() throws(V4L2Error) -> Bool {
        while let output = try queues.output.dequeue() {
            if !output.isBroken, output.byteCount > 0 { return true }
            try queues.output.enqueue(output.index)
        }
        return false
    }

    private func wait(until deadline: MediaTimestamp) throws(V4L2Error) {
        var entries = [PollEntry(device.fileDescriptor)]
        do throws(SystemCallError) {
            try poll(&entries, until: deadline)
        } catch {
            throw V4L2Error(path, error)
        }
    }
}
