import Bitstream
import Media

/// Interprets a hardware encoder's output buffers. Joins frames that span several buffers, separates headers from frames, and
/// withholds everything after a lost frame until the next keyframe. Pure.
struct OutputAssembly {
    struct Output {
        let time: MediaTimestamp
        /// The driver marked it as corrupt.
        let isBroken: Bool
        /// It is completely full, so the rest follows in the next buffer.
        let isFull: Bool
    }

    /// Frames inside the encoder.
    private(set) var inFlight = InFlightFrames()
    /// Number of outputs that were marked as corrupt or held no frame.
    private(set) var faultCount = 0
    private var header: AVCDecoderConfigurationRecord?
    /// The first part of a frame that did not fit into one buffer.
    private var unfinished: (time: MediaTimestamp, bytes: [UInt8])?
    /// When parameter sets arrived in a separate buffer. A frame follows, or was skipped.
    private var headersTime: MediaTimestamp?
    /// Nothing is decodable before the next keyframe. Also true at the start.
    private var isDamaged = true
    private var wantsKeyframe = false

    mutating func frameSubmitted(_ time: MediaTimestamp) { inFlight.frameSubmitted(time) }

    /// Reports that the encoder delivers nothing more, or restarts.
    mutating func encoderStopped() {
        inFlight.encoderStopped()
        unfinished = nil
        headersTime = nil
        isDamaged = true
    }

    /// Whether to request a keyframe; true once.
    mutating func takeKeyframeWish() -> Bool {
        defer { wantsKeyframe = false }
        return wantsKeyframe
    }

    /// - Returns: the packets that are complete now, in decode order.
    mutating func outputArrived(_ output: Output, _ bytes: UnsafeRawBufferPointer) -> [EncodedPacket] {
        if let started = unfinished, started.time != output.time {
            unfinished = nil
            frameFailed(started.time)
        }
        guard !output.isBroken else {
            unfinished = nil
            frameFailed(output.time)
            return []
        }
        guard !bytes.isEmpty else { return [] }
        if let time = headersTime, time != output.time {
            headersTime = nil
            if inFlight.expects(time) { frameFailed(time) }
        }
        if output.isFull {
            unfinished = (output.time, (unfinished?.bytes ?? []) + bytes)
            return []
        }
        guard let started = unfinished else { return packets(AnnexBAccessUnit(bytes), output.time) }
        unfinished = nil
        return (started.bytes + bytes).withUnsafeBytes { packets(AnnexBAccessUnit($0), output.time) }
    }

    /// Everything after a lost frame is damaged until the next keyframe.
    private mutating func frameFailed(_ time: MediaTimestamp) {
        inFlight.frameReturned(time)
        faultCount += 1
        isDamaged = true
        wantsKeyframe = true
    }

    private mutating func packets(_ unit: AnnexBAccessUnit, _ time: MediaTimestamp) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        if let sets = unit.parameterSets, sets != header {
            header = sets
            packets.append(EncodedPacket(kind: .videoHeader, decodeTime: time, payload: sets.bytes))
        }
        guard unit.containsFrame else {
            // Some encoders emit these before every keyframe; the Pi's does so in place of a skipped frame.
            if unit.parameterSets == nil { frameFailed(time) } else { headersTime = time }
            return packets
        }
        headersTime = nil
        guard !isDamaged || unit.isKeyframe else {
            inFlight.frameReturned(time)
            return packets
        }
        isDamaged = false
        if inFlight.frameReturned(time) {
            packets.append(
                EncodedPacket(kind: .video(isKeyframe: unit.isKeyframe), decodeTime: time, payload: unit.payload))
        }
        return packets
    }
}
