import Bitstream
import Media

/// What a hardware encoder's output buffers mean: frames that come in several buffers are put together, headers distinguished
/// from frames, and what refers to a lost frame is withheld up to the next keyframe. Pure.
struct OutputAssembly {
    struct Output {
        let time: MediaTimestamp
        /// The driver marked it as faulty.
        let isBroken: Bool
        /// It is filled to its end: what did not fit comes in the next one.
        let isFull: Bool
    }

    /// Frames that are in the encoder.
    private(set) var inFlight = InFlightFrames()
    /// Outputs that were marked as faulty, or held no frame.
    private(set) var faultCount = 0
    private var header: AVCDecoderConfigurationRecord?
    /// The start of a frame that did not fit into one buffer.
    private var unfinished: (time: MediaTimestamp, bytes: [UInt8])?
    /// When parameter sets came in a buffer of their own: a frame follows, or was left out.
    private var headersTime: MediaTimestamp?
    /// Nothing can be decoded before the next keyframe: the first one, too.
    private var isDamaged = true
    private var wantsKeyframe = false

    mutating func frameSubmitted(_ time: MediaTimestamp) { inFlight.frameSubmitted(time) }

    /// The encoder gives nothing any more, or starts anew.
    mutating func encoderStopped() {
        inFlight.encoderStopped()
        unfinished = nil
        headersTime = nil
        isDamaged = true
    }

    /// Whether a keyframe is to be asked for; true once.
    mutating func takeKeyframeWish() -> Bool {
        defer { wantsKeyframe = false }
        return wantsKeyframe
    }

    /// - Returns: the packets that are whole now, in decode order.
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

    /// What follows a lost frame is damaged up to the next keyframe.
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
            // Some encoders give them so at every keyframe, the Pi's in place of a frame.
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
