import DevicePorts
import LinuxIO
import Media

/// Briefly runs an encoder with black frames in its own memory, to see whether it starts and delivers a frame.
///
/// The trial opens the node separately, so it leaves nothing behind in the stream's context. Closing a failed trial may take
/// seconds; that happens when this object is dropped.
final class EncoderTrial {
    private let path: String
    private let device: V4L2Device
    private let formats: EncoderFormats
    private let queues: EncoderQueues

    /// Time limit for the first output after the first input. The slowest encoders need 100 ms.
    private static let patience = Duration.milliseconds(1500)
    /// An encoder may swallow its first frames, so another one is submitted at this interval.
    private static let interval = Duration.milliseconds(100)

    /// - Parameter plan: the plan of the stream that follows.
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

    /// - Throws: `silent` if nothing comes out; `memoryRefused` if the driver cannot start for lack of memory.
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

    /// - Returns: whether any valid output has arrived, whatever it contains.
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
