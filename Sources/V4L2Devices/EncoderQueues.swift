import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// Both queues of an encoder, with as many buffers as the memory allows.
struct EncoderQueues {
    let input: EncoderQueue
    let output: EncoderQueue
    /// Whether inputs are the camera's memory.
    let isDMABUF: Bool

    /// The driver's answer to a plan that does not fit is the next leaner plan.
    /// - Throws: `insufficientMemory` when even the leanest does not fit.
    init(
        _ device: V4L2Device, _ encoder: HardwareEncoder, _ formats: EncoderFormats, isDMABUF: Bool,
        available: EncoderMemoryPlan.Available?
    ) throws(HardwareEncodingError) {
        let inputSize = isDMABUF ? 0 : formats.inputSize
        let plans = try EncoderMemoryPlan.plans(
            inputSize: inputSize, outputSize: formats.outputSize, available: available, path: encoder.path)
        for plan in plans {
            switch Self.request(plan, device, encoder, isDMABUF: isDMABUF) {
            case .success(let queues?):
                self = queues
                return
            case .success(nil): continue
            case .failure(let error): throw HardwareEncodingError(error, path: encoder.path)
            }
        }
        let leanest = plans.last.map { $0.inputCount * inputSize + $0.outputCount * formats.outputSize } ?? 0
        throw .memoryRefused(path: encoder.path, neededKilobytes: (leanest + 1023) / 1024)
    }

    private init(input: EncoderQueue, output: EncoderQueue, isDMABUF: Bool) {
        self.input = input
        self.output = output
        self.isDMABUF = isDMABUF
    }

    /// - Returns: `nil` when there is no memory for so many buffers.
    private static func request(
        _ plan: EncoderMemoryPlan, _ device: V4L2Device, _ encoder: HardwareEncoder, isDMABUF: Bool
    ) -> Result<EncoderQueues?, V4L2Error> {
        let sides = EncoderSides(isMultiplanar: encoder.isMultiplanar)
        var input: EncoderQueue?
        do throws(V4L2Error) {
            let made = try EncoderQueue(
                device, type: sides.encoderInput, memory: isDMABUF ? .imported : .driver,
                isMultiplanar: encoder.isMultiplanar, wantedCount: isDMABUF ? 16 : plan.inputCount)
            input = made
            let output = try EncoderQueue(
                device, type: sides.encoderOutput, memory: .driver, isMultiplanar: encoder.isMultiplanar,
                wantedCount: plan.outputCount)
            return .success(EncoderQueues(input: made, output: output, isDMABUF: isDMABUF))
        } catch {
            input?.stop()
            if case .failed(_, let reason) = error, reason.number == ENOMEM { return .success(nil) }
            return .failure(error)
        }
    }

    func start() throws(V4L2Error) {
        for index in 0..<output.bufferCount { try output.enqueue(index) }
        try input.start()
        try output.start()
    }

    /// Takes every buffer back from the driver and frees them.
    func stop() {
        input.stop()
        output.stop()
    }
}

/// Whose memory a queue's buffers are.
enum BufferMemory {
    /// The driver's own, to be mapped.
    case driver
    /// DMABUFs of somebody else.
    case imported

    /// As v4l2_requestbuffers and v4l2_buffer have it.
    var number: UInt32 {
        switch self {
        case .driver: V4L2_MEMORY_MMAP.rawValue
        case .imported: V4L2_MEMORY_DMABUF.rawValue
        }
    }
}
