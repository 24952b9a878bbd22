import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// H.264 from a hardware encoder. Frames in DMABUF memory with a suitable layout are read in place. Others are copied once;
/// they must have the stream's size and a format of the driver's.
///
/// The two queues are independent. A free input comes only from dequeuing inputs, never from counting outputs, because encoders
/// skip frames silently.
public final class V4L2H264Encoder: PolledVideoEncoder {
    public private(set) var configuration: VideoEncoderConfiguration
    public let encoder: V4L2EncoderNode
    /// Number of frames that the CPU copied into the encoder's memory.
    public private(set) var conversionCount = 0
    public var faultCount: Int { assembly.faultCount }
    public var pendingFrameCount: Int { assembly.inFlight.count }
    public var fileDescriptor: Int32? { device.fileDescriptor }
    public private(set) var isDrained = false

    private let device: V4L2Device
    private let formats: EncoderFormats
    private let controls: EncoderControls
    private let layout: FrameLayout
    private let memoryKind: FrameMemoryKind
    private let importRefusal: ImportRefusal
    private let isProven: Bool
    private let readMemory: () -> EncoderMemoryPlan.Available?
    /// Kept until it is closed, which may be slow. Its failure is reported before that.
    private var trial: EncoderTrial?
    private var queues: EncoderQueues?
    /// Frames that the driver is reading, by the index of their input buffer.
    private var leased: [Int: any FrameMemory] = [:]
    private var imported = ImportedBuffers()
    private var assembly = OutputAssembly()
    private var notes: [String] = []

    /// Limits the inputs of an encoder that is slower than the camera. Further frames would only age inside, and the camera
    /// needs its other buffers to continue.
    private static let mostInputs = 4

    /// Opens the node and sets the formats. Call `start` next.
    /// - Parameters:
    ///   - layout: of the source frames.
    ///   - memoryKind: who provides the frames' memory.
    ///   - importRefusal: knowledge from earlier openings for the same source; updated by this one.
    ///   - isProven: whether the node is known to work, so that `start` can skip the trial.
    ///   - memory: returns the memory free for buffers; called when they are created.
    public init(
        _ encoder: V4L2EncoderNode, configuration: VideoEncoderConfiguration, layout: FrameLayout,
        memoryKind: FrameMemoryKind, importRefusal: ImportRefusal = ImportRefusal(), isProven: Bool = false,
        memory: @escaping () -> EncoderMemoryPlan.Available? = V4L2H264Encoder.freeMemory
    ) throws(HardwareEncodingError) {
        guard encoder.carries(configuration.size) else {
            throw .unsupportedSize(
                path: encoder.path, configuration.size, smallest: encoder.smallest, largest: encoder.largest)
        }
        self.encoder = encoder
        self.configuration = configuration
        self.layout = layout
        self.memoryKind = importRefusal.isKnown ? .pooled : memoryKind
        self.importRefusal = importRefusal
        self.isProven = isProven
        readMemory = memory
        do throws(V4L2Error) {
            device = try V4L2Device(at: encoder.path)
        } catch {
            throw HardwareEncodingError(error, path: encoder.path)
        }
        controls = EncoderControls(device: device)
        try controls.apply(configuration)
        formats = try EncoderFormats(device, encoder: encoder, configuration: configuration, layout: layout)
    }

    /// The kernel's figures for free memory.
    public static func freeMemory() -> EncoderMemoryPlan.Available? {
        guard let file = try? OwnedFileDescriptor(opening: "/proc/meminfo", flags: O_RDONLY),
            let bytes = try? file.readAll(limit: 65_536)
        else { return nil }
        return EncoderMemoryPlan.Available(memoryInformation: String(decoding: bytes, as: UTF8.self))
    }

    deinit { stop() }

    /// First encodes black frames in a separate context. Drivers request many firmware resources only at the first frame. An
    /// encoder that refuses or stays silent then must be found out before a stream relies on it.
    public func start() throws {
        let isDMABUF = memoryKind == .dmabuf && formats.takesAsIs(layout)
        var plans = try plans(isDMABUF: isDMABUF)
        if !isProven { plans = [try tried(plans, isDMABUF: isDMABUF)] }
        do throws(HardwareEncodingError) {
            try start(plans, isDMABUF: isDMABUF)
        } catch {
            // Drivers report missing DMABUF support with the same error number as a lack of memory.
            guard isDMABUF, error.isLackOfMemory else { throw error }
            try startWithOwnInputs(because: "the driver accepts no frames from other devices")
            importRefusal.happened()
        }
    }

    /// - Returns: the first plan that the driver starts and encodes with. Some drivers refuse memory only when they start.
    private func tried(
        _ plans: [EncoderMemoryPlan], isDMABUF: Bool
    ) throws(HardwareEncodingError) -> EncoderMemoryPlan {
        var refusal: HardwareEncodingError?
        for plan in plans {
            do throws(HardwareEncodingError) {
                let own = EncoderMemoryPlan(inputCount: isDMABUF ? 1 : plan.inputCount, outputCount: plan.outputCount)
                let trial = try EncoderTrial(encoder, configuration, layout, own)
                self.trial = trial
                try trial.run()
                self.trial = nil
                return plan
            } catch {
                // Some drivers refuse a second context while this one is open. Then a trial is impossible.
                if case .busy = error, trial == nil { return plan }
                guard error.isLackOfMemory else { throw error }
                self.trial = nil
                refusal = error
            }
        }
        throw refusal ?? .noEncoder
    }

    private func plans(isDMABUF: Bool) throws(HardwareEncodingError) -> [EncoderMemoryPlan] {
        try EncoderMemoryPlan.plans(
            inputSize: isDMABUF ? 0 : formats.inputSize, outputSize: formats.outputSize, available: readMemory(),
            path: encoder.path)
    }

    private func start(_ plans: [EncoderMemoryPlan], isDMABUF: Bool) throws(HardwareEncodingError) {
        queues = try EncoderQueues(device, encoder, formats, isDMABUF: isDMABUF, plans: plans)
    }

    /// Releases all buffers. Frames that are still inside are lost.
    private func stop() {
        queues?.stop()
        queues = nil
        leased = [:]
        imported = ImportedBuffers()
        assembly.encoderStopped()
    }

    public func startDraining() {
        var command = v4l2_encoder_cmd()
        command.cmd = UInt32(V4L2_ENC_CMD_STOP)
        let isTaken = (try? device.request("VIDIOC_ENCODER_CMD", clinux_vidioc_encoder_cmd, &command)) != nil
        if !isTaken || pendingFrameCount == 0 { isDrained = true }
    }

    public func requestKeyframe() { try? controls.forceKeyframe() }

    public func setBitrate(_ bitrate: Bitrate) throws {
        try controls.setBitrate(bitrate)
        configuration.bitrate = bitrate
    }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws {
        try controls.setKeyframeInterval(keyframeInterval)
        do throws(V4L2Error) {
            let types = QueueTypes(isMultiplanar: encoder.isMultiplanar)
            try EncoderFormats.setFrameRate(frameRate, types.input, of: device)
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
        configuration.frameRate = frameRate
        configuration.keyframeInterval = keyframeInterval
    }

    public func takeNotes() -> [String] {
        defer { notes = [] }
        return notes
    }
}

// Frames into the encoder.
extension V4L2H264Encoder {
    public var hasRoom: Bool {
        guard let input = queues?.input else { return false }
        return !input.free.isEmpty && input.bufferCount - input.free.count < Self.mostInputs
    }

    public func submit(_ frame: CapturedFrame) throws {
        if try !submitInPlace(frame) {
            do throws(V4L2Error) {
                try submitCopy(frame)
            } catch {
                throw HardwareEncodingError(error, path: device.path)
            }
        }
        assembly.frameSubmitted(frame.captureTime)
    }

    /// - Returns: false if the driver cannot read this frame in place.
    private func submitInPlace(_ frame: CapturedFrame) throws(HardwareEncodingError) -> Bool {
        guard let queues, queues.isDMABUF else { return false }
        guard formats.takesAsIs(frame.layout), let dmabuf = frame.dmabuf,
            let index = imported.index(for: dmabuf, free: queues.input.free)
        else {
            try startWithOwnInputs(because: "a frame is not in a device's memory")
            return false
        }
        do throws(V4L2Error) {
            // The memory may be larger than the frame; the driver maps as much as the format says.
            try queues.input.enqueue(
                index, byteCount: frame.layout.byteCount, timestamp: frame.captureTime, dmabuf: dmabuf,
                length: formats.inputSize)
        } catch {
            guard error.refusesImport else { throw HardwareEncodingError(error, path: device.path) }
            try startWithOwnInputs(because: "the driver cannot read the camera's memory (\(error))")
            importRefusal.happened()
            return false
        }
        leased[index] = frame.memory
        return true
    }

    /// From here on, the CPU copies each frame once.
    private func startWithOwnInputs(because reason: String) throws(HardwareEncodingError) {
        notes.append("\(reason): each frame is copied into the encoder's own")
        stop()
        try start(plans(isDMABUF: false), isDMABUF: false)
    }

    private func submitCopy(_ frame: CapturedFrame) throws(V4L2Error) {
        guard let input = queues?.input, let index = input.free.min(), input.mappings.indices.contains(index),
            let copy = FrameCopy(from: frame.layout, to: formats.input)
        else {
            throw .conversionFailed(
                path: device.path, reason: "\(frame.layout.size) \(frame.layout.format) does not fit")
        }
        let target = input.mappings[index].bytes
        guard frame.withBytes({ copy.copy($0, to: target) }) else {
            throw .conversionFailed(path: device.path, reason: "a frame is smaller than its layout says")
        }
        conversionCount += 1
        try input.enqueue(index, byteCount: formats.input.byteCount, timestamp: frame.captureTime)
    }
}

// Packets out of the encoder.
extension V4L2H264Encoder {
    /// Serves each queue independently. Requests a keyframe right after a damaged frame.
    public func collect() throws -> [EncodedPacket] {
        do throws(V4L2Error) {
            let packets = try takeReady()
            if assembly.takeKeyframeWish() { requestKeyframe() }
            return packets
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
    }

    private func takeReady() throws(V4L2Error) -> [EncodedPacket] {
        guard let queues else { return [] }
        while let input = try queues.input.dequeue() { leased[input.index] = nil }
        var packets: [EncodedPacket] = []
        while let output = try queues.output.dequeue() {
            packets += assembly.outputArrived(
                OutputAssembly.Output(
                    time: output.timestamp, isBroken: output.isBroken, isFull: queues.output.isFull(output)),
                queues.output.bytes(of: output))
            if output.isLast {
                isDrained = true
                break
            }
            try queues.output.enqueue(output.index)
        }
        return packets
    }
}
