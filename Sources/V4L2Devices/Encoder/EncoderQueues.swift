import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// Both queues of an encoder, streaming, with as many buffers as memory allows.
struct EncoderQueues {
    let input: BufferQueue
    let output: BufferQueue
    /// Whether the inputs are the camera's memory.
    let isDMABUF: Bool

    /// If the driver refuses a plan for lack of memory, the next smaller one is tried.
    /// - Throws: `memoryRefused` if even the smallest plan does not fit.
    init(
        _ device: V4L2Device, _ encoder: V4L2EncoderNode, _ formats: EncoderFormats, isDMABUF: Bool,
        plans: [EncoderMemoryPlan]
    ) throws(HardwareEncodingError) {
        var isUnanswered = false
        for plan in plans {
            switch Self.start(plan, device, encoder, isDMABUF: isDMABUF) {
            case .success(let queues):
                self = queues
                return
            case .failure(let error) where error.isLackOfEncoderMemory: isUnanswered = error.isMissingComponent
            case .failure(let error): throw HardwareEncodingError(error, path: encoder.path)
            }
        }
        let inputSize = isDMABUF ? 0 : formats.inputSize
        let leanest = plans.last.map { $0.inputCount * inputSize + $0.outputCount * formats.outputSize } ?? 0
        throw .memoryRefused(
            path: encoder.path, neededKilobytes: (leanest + 1023) / 1024, isUnanswered: isUnanswered)
    }

    private init(input: BufferQueue, output: BufferQueue, isDMABUF: Bool) {
        self.input = input
        self.output = output
        self.isDMABUF = isDMABUF
    }

    private static func start(
        _ plan: EncoderMemoryPlan, _ device: V4L2Device, _ encoder: V4L2EncoderNode, isDMABUF: Bool
    ) -> Result<EncoderQueues, V4L2Error> {
        let types = QueueTypes(isMultiplanar: encoder.isMultiplanar)
        var started: [BufferQueue] = []
        do throws(V4L2Error) {
            let input = try BufferQueue(
                device, type: types.input, memory: isDMABUF ? .imported : .driver,
                isMultiplanar: encoder.isMultiplanar, wantedCount: isDMABUF ? importCount : plan.inputCount)
            started.append(input)
            let output = try BufferQueue(
                device, type: types.output, memory: .driver, isMultiplanar: encoder.isMultiplanar,
                wantedCount: plan.outputCount)
            started.append(output)
            for index in 0..<output.bufferCount { try output.enqueue(index) }
            try input.start()
            try output.start()
            return .success(EncoderQueues(input: input, output: output, isDMABUF: isDMABUF))
        } catch {
            for queue in started { queue.stop() }
            return .failure(error)
        }
    }

    /// As many as a camera may have, because each buffer is imported once.
    private static let importCount = 16

    /// Takes all buffers back from the driver and frees them.
    func stop() {
        input.stop()
        output.stop()
    }

    /// Interprets an error of the first frame, when drivers start the encoder.
    func startingError(_ error: V4L2Error, path: String, _ formats: EncoderFormats) -> HardwareEncodingError {
        guard error.isLackOfEncoderMemory else { return HardwareEncodingError(error, path: path) }
        let needed = input.bufferCount * formats.inputSize + output.bufferCount * formats.outputSize
        return .memoryRefused(path: path, neededKilobytes: (needed + 1023) / 1024, isUnanswered: false)
    }
}

extension V4L2Error {
    /// Whether the encoder cannot start for lack of memory. The Pi's driver reports this in three ways. The kernel has no
    /// memory (ENOMEM), or the VideoCore has none for the component (REQBUFS: EINVAL). Or the firmware's own status arrives as
    /// an error number at STREAMON or the first buffer: no memory is EPERM, no space ENOENT, invalid ESRCH.
    var isLackOfEncoderMemory: Bool {
        guard case .failed(_, let error) = self else { return false }
        switch (error.call, error.number) {
        case (_, ENOMEM), ("VIDIOC_REQBUFS", EINVAL): return true
        case ("VIDIOC_STREAMON", EPERM), ("VIDIOC_STREAMON", ENOENT), ("VIDIOC_STREAMON", ESRCH): return true
        case ("VIDIOC_QBUF", EPERM), ("VIDIOC_QBUF", ENOENT), ("VIDIOC_QBUF", ESRCH): return true
        default: return false
        }
    }

    /// Whether the firmware gave the driver no component, either for lack of space or because it does not answer.
    var isMissingComponent: Bool {
        guard case .failed(_, let error) = self else { return false }
        return error.call == "VIDIOC_REQBUFS" && error.number == EINVAL
    }

    /// Whether the driver cannot read a frame's memory: it is not contiguous, or out of reach.
    var refusesImport: Bool {
        guard case .failed(_, let error) = self, error.call == "VIDIOC_QBUF" else { return false }
        return [EFAULT, EINVAL, ENOMEM].contains(error.number)
    }
}
