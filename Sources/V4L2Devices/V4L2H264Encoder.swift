import Bitstream
import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// H.264 by a hardware encoder. Pictures in DMABUF memory that lie as the driver wants them are read where they
/// are; others are copied once, and must have the stream's size and a format of the driver's.
///
/// The two queues are served each for itself: a free input comes from dequeuing inputs only, never from counting
/// outputs, as encoders leave pictures out without a word.
public final class V4L2H264Encoder: VideoEncoder {
    public private(set) var configuration: VideoEncoderConfiguration
    public let encoder: HardwareEncoder
    /// Pictures that were copied by the processor into the encoder's memory.
    public private(set) var conversionCount = 0
    public var skippedFrameCount: Int { ledger.skippedCount }
    /// Outputs that were marked as faulty, or held no picture.
    public private(set) var faultCount = 0
    /// Pictures that are in the encoder.
    public var pendingFrameCount: Int { ledger.pendingCount }

    private let device: V4L2Device
    private let formats: EncoderFormats
    private let controls: EncoderControls
    private let readMemory: () -> EncoderMemoryPlan.Available?
    private var queues: EncoderQueues?
    private var isStreaming = false
    /// Pictures that the driver reads, by the index of their input buffer.
    private var lent: [Int: any FrameMemory] = [:]
    /// The index that a descriptor has been used with: drivers import it once then.
    private var indexOfDescriptor: [Int32: Int] = [:]
    private var ledger = PictureLedger()
    private var header: AVCDecoderConfigurationRecord?
    /// The begin of a picture that did not fit into one buffer.
    private var unfinished: (time: MediaTimestamp, bytes: [UInt8])?
    /// When parameter sets came in a buffer of their own: a picture follows, or was left out.
    private var headersTime: MediaTimestamp?
    private var isDamaged = false
    private var packets: [EncodedPacket] = []

    /// Longer than this no encoder keeps every input.
    private static let inputLimit = Duration.seconds(1)

    /// - Parameters:
    ///   - layout: of the pictures to come.
    ///   - isLent: whether pictures come in DMABUF memory, as a camera's do.
    ///   - memory: what is free for buffers; asked when they are made.
    public init(
        _ encoder: HardwareEncoder, configuration: VideoEncoderConfiguration, layout: FrameLayout, isLent: Bool,
        memory: @escaping () -> EncoderMemoryPlan.Available? = V4L2H264Encoder.freeMemory
    ) throws(HardwareEncodingError) {
        guard encoder.carries(configuration.size) else {
            throw .unsupportedSize(
                path: encoder.path, configuration.size, smallest: encoder.smallest, largest: encoder.largest)
        }
        self.encoder = encoder
        self.configuration = configuration
        readMemory = memory
        do throws(V4L2Error) {
            device = try V4L2Device(at: encoder.path)
        } catch {
            throw HardwareEncodingError(error, path: encoder.path)
        }
        controls = EncoderControls(device: device)
        try controls.apply(configuration)
        formats = try EncoderFormats(device, encoder: encoder, configuration: configuration, layout: layout)
        queues = try EncoderQueues(
            device, encoder, formats, isDMABUF: isLent && formats.takesAsIs(layout), available: memory())
    }

    /// The kernel's count of free memory.
    public static func freeMemory() -> EncoderMemoryPlan.Available? {
        guard let file = try? OwnedFileDescriptor(opening: "/proc/meminfo", flags: O_RDONLY),
            let bytes = try? file.readAll(limit: 65_536)
        else { return nil }
        return EncoderMemoryPlan.Available(memoryInformation: String(decoding: bytes, as: UTF8.self))
    }

    deinit { stop() }

    /// Gives every buffer back. Pictures that are still inside count as left out.
    public func stop() {
        queues?.stop()
        queues = nil
        isStreaming = false
        lent = [:]
        ledger.encoderClosed()
    }

    public func encode(_ frame: consuming CapturedFrame) throws -> [EncodedPacket] {
        let layout = frame.layout
        let time = frame.captureTime
        let dmabuf = formats.takesAsIs(layout) ? frame.dmabuf : nil
        do throws(V4L2Error) {
            try start(withDMABUF: dmabuf != nil)
            try collect()
            if let dmabuf, queues?.isDMABUF == true {
                let memory = frame.takeMemory()
                let index = try freeIndex(for: dmabuf)
                // The memory may be larger than the picture; the driver maps as much as the format says.
                try queues?.input.enqueue(
                    index, byteCount: layout.byteCount, timestamp: time, dmabuf: dmabuf, length: formats.inputSize)
                lent[index] = memory
            } else {
                let index = try freeIndex(for: nil)
                try frame.withBytes { bytes throws(V4L2Error) in try submitCopy(of: bytes, layout, time, at: index) }
            }
            ledger.pictureSubmitted(time)
            try waitBriefly(for: time)
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
        return takePackets()
    }

    public func finish() throws -> [EncodedPacket] {
        guard isStreaming else { return [] }
        var command = v4l2_encoder_cmd()
        command.cmd = UInt32(V4L2_ENC_CMD_STOP)
        // A drain that never ends is cut off; 400 ms is what the slowest needs.
        let deadline = MonotonicClock.now() + .milliseconds(400)
        guard (try? device.request("VIDIOC_ENCODER_CMD", clinux_vidioc_encoder_cmd, &command)) != nil else {
            return takePackets()
        }
        do throws(V4L2Error) {
            while !ledger.isEmpty, MonotonicClock.now() < deadline {
                if try collect() { break }
                try wait(until: deadline, forInput: false)
            }
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
        return takePackets()
    }

    public func requestKeyFrame() { try? controls.forceKeyFrame() }

    public func setBitrate(_ bitrate: Bitrate) throws {
        try controls.setBitrate(bitrate)
        configuration.bitrate = bitrate
    }

    public func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) throws {
        try controls.setKeyFrameInterval(keyFrameInterval)
        do throws(V4L2Error) {
            let sides = EncoderSides(isMultiplanar: encoder.isMultiplanar)
            try EncoderFormats.setFrameRate(frameRate, sides.encoderInput, of: device)
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
        configuration.frameRate = frameRate
        configuration.keyFrameInterval = keyFrameInterval
    }
}

// Into the encoder.
extension V4L2H264Encoder {
    /// With other buffers than were made at first when pictures come in another kind of memory than was said.
    private func start(withDMABUF isDMABUF: Bool) throws(V4L2Error) {
        guard !isStreaming else { return }
        if let made = queues, made.isDMABUF && !isDMABUF {
            made.stop()
            do throws(HardwareEncodingError) {
                queues = try EncoderQueues(device, encoder, formats, isDMABUF: false, available: readMemory())
            } catch {
                throw .failed(path: encoder.path, SystemCallError("VIDIOC_REQBUFS", number: ENOMEM))
            }
        }
        try queues?.start()
        isStreaming = true
    }

    /// Waits for an input buffer that the driver does not have: for a descriptor the one it was used with before.
    private func freeIndex(for dmabuf: Int32?) throws(V4L2Error) -> Int {
        let deadline = MonotonicClock.now() + Self.inputLimit
        while true {
            if let input = queues?.input, let index = choose(from: input.free, dmabuf) { return index }
            guard MonotonicClock.now() < deadline else {
                throw .failed(path: device.path, SystemCallError("VIDIOC_DQBUF", number: ETIMEDOUT))
            }
            try wait(until: deadline, forInput: true)
            try collect()
        }
    }

    private func choose(from free: Set<Int>, _ dmabuf: Int32?) -> Int? {
        guard let dmabuf else { return free.min() }
        if let index = indexOfDescriptor[dmabuf], free.contains(index) { return index }
        // One that no descriptor has; else any: the driver imports anew then.
        let taken = Set(indexOfDescriptor.values)
        guard let index = free.subtracting(taken).min() ?? free.min() else { return nil }
        indexOfDescriptor = indexOfDescriptor.filter { $0.value != index }
        indexOfDescriptor[dmabuf] = index
        return index
    }

    private func submitCopy(
        of bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, _ time: MediaTimestamp, at index: Int
    ) throws(V4L2Error) {
        guard let input = queues?.input, input.mappings.indices.contains(index),
            PictureCopy(from: layout, to: formats.input)?.copy(bytes, to: input.mappings[index].bytes) == true
        else {
            throw .conversionFailed(
                path: device.path,
                reason: "a \(layout.size) \(layout.format) picture of \(bytes.count) bytes does not fit its input")
        }
        conversionCount += 1
        try input.enqueue(index, byteCount: formats.input.byteCount, timestamp: time)
    }
}

// Out of the encoder.
extension V4L2H264Encoder {
    private func takePackets() -> [EncodedPacket] {
        defer { packets = [] }
        return packets
    }

    private func wait(until deadline: MediaTimestamp, forInput: Bool) throws(V4L2Error) {
        var entries = [PollEntry(device.fileDescriptor, forInput ? [.readable, .writable] : .readable)]
        do throws(SystemCallError) {
            try poll(&entries, until: deadline)
        } catch {
            throw V4L2Error(device.path, error)
        }
    }

    /// Gives an encoder that is fast enough the time to answer, so that its picture goes out at once.
    private func waitBriefly(for time: MediaTimestamp) throws(V4L2Error) {
        let deadline = MonotonicClock.now() + configuration.frameRate.frameDuration / 2
        while ledger.pendingCount > 0, MonotonicClock.now() < deadline {
            try wait(until: deadline, forInput: false)
            try collect()
        }
    }

    /// Takes what either queue has ready.
    /// - Returns: whether the driver has marked its last output.
    @discardableResult
    private func collect() throws(V4L2Error) -> Bool {
        guard let queues else { return true }
        while let input = try queues.input.dequeue() { lent[input.index] = nil }
        while let output = try queues.output.dequeue() {
            let isLast = output.isLast
            accept(output, from: queues.output)
            if isLast { return true }
            try queues.output.enqueue(output.index)
        }
        return false
    }

    private func accept(_ output: EncoderQueue.Dequeued, from queue: EncoderQueue) {
        if let begun = unfinished, begun.time != output.timestamp {
            unfinished = nil
            pictureFailed(begun.time)
        }
        guard !output.isBroken else {
            unfinished = nil
            return pictureFailed(output.timestamp)
        }
        guard output.byteCount > 0 else { return }
        if let time = headersTime, time != output.timestamp {
            headersTime = nil
            if ledger.expects(time) { pictureFailed(time) }
        }
        let bytes = queue.bytes(of: output)
        if queue.isFull(output) {
            unfinished = (output.timestamp, (unfinished?.bytes ?? []) + bytes)
            return
        }
        guard let begun = unfinished else { return append(AnnexBAccessUnit(bytes), output.timestamp) }
        unfinished = nil
        (begun.bytes + bytes).withUnsafeBytes { append(AnnexBAccessUnit($0), output.timestamp) }
    }

    /// What follows a lost picture is damaged up to the next key frame.
    private func pictureFailed(_ time: MediaTimestamp) {
        ledger.pictureLost(time)
        faultCount += 1
        isDamaged = true
        requestKeyFrame()
    }

    private func append(_ unit: AnnexBAccessUnit, _ time: MediaTimestamp) {
        if let sets = unit.parameterSets, sets != header {
            header = sets
            packets.append(EncodedPacket(kind: .videoHeader, decodeTime: time, payload: sets.bytes))
        }
        guard unit.containsPicture else {
            // Some encoders give them so at every key frame, the Pi's in place of a picture.
            if unit.parameterSets == nil { pictureFailed(time) } else { headersTime = time }
            return
        }
        headersTime = nil
        if isDamaged, !unit.isKeyFrame { return ledger.pictureLost(time) }
        isDamaged = false
        guard ledger.pictureReturned(time) else { return }
        packets.append(
            EncodedPacket(kind: .video(isKeyFrame: unit.isKeyFrame), decodeTime: time, payload: unit.payload))
    }
}
