import CFDKAAC
import DevicePorts
import Media

/// The library's encoder handle: opens, feeds and closes it.
final class FDKEncoder {
    /// Delay in frames between this encoder's input and a decoder's output.
    let delay: Int
    /// The AudioSpecificConfig that the library wrote.
    let configuration: [UInt8]

    private let handle: HANDLE_AACENCODER
    private let format: AudioFormat
    private var output: [UInt8]

    private static let lowComplexity: UInt32 = 2

    init(format: AudioFormat, bitrate: Bitrate, usesAfterburner: Bool) throws(AudioEncodingError) {
        var opened: HANDLE_AACENCODER?
        let status = aacEncOpen(&opened, 0x01, UInt32(format.channelCount))
        guard status == AACENC_OK, let handle = opened else {
            throw .libraryFailed(call: "aacEncOpen", status: status.rawValue)
        }
        self.handle = handle
        self.format = format
        let info: AACENC_InfoStruct
        do throws(AudioEncodingError) {
            let settings: [(AACENC_PARAM, Int)] = [
                (AACENC_AOT, Int(Self.lowComplexity)), (AACENC_SAMPLERATE, format.sampleRate),
                (AACENC_CHANNELMODE, format.channelCount), (AACENC_TRANSMUX, Int(TT_MP4_RAW.rawValue)),
                (AACENC_GRANULE_LENGTH, AACEncoder.framesPerPacket), (AACENC_BITRATEMODE, 0),
                (AACENC_BITRATE, bitrate.bitsPerSecond), (AACENC_AFTERBURNER, usesAfterburner ? 1 : 0),
            ]
            for (parameter, value) in settings { try Self.set(parameter, to: value, of: handle) }
            try Self.apply(bitrate, format: format, of: handle)
            info = try Self.info(of: handle)
        } catch {
            aacEncClose(&opened)
            throw error
        }
        delay = Int(info.nDelay)
        configuration = withUnsafeBytes(of: info.confBuf) { [UInt8]($0.prefix(Int(info.confSize))) }
        output = [UInt8](repeating: 0, count: max(Int(info.maxOutBufBytes), 1))
    }

    deinit {
        var closing: HANDLE_AACENCODER? = handle
        aacEncClose(&closing)
    }

    private static func set(
        _ parameter: AACENC_PARAM, to value: Int, of handle: HANDLE_AACENCODER
    ) throws(AudioEncodingError) {
        let status = aacEncoder_SetParam(handle, parameter, UInt32(clamping: value))
        guard status == AACENC_OK else {
            throw .libraryFailed(call: "aacEncoder_SetParam(\(parameter.rawValue))", status: status.rawValue)
        }
    }

    /// Applies the settings. The library silently adjusts a bit rate that the format does not support.
    private static func apply(
        _ bitrate: Bitrate, format: AudioFormat, of handle: HANDLE_AACENCODER
    ) throws(AudioEncodingError) {
        let status = aacEncEncode(handle, nil, nil, nil, nil)
        guard status == AACENC_OK else { throw .libraryFailed(call: "aacEncEncode", status: status.rawValue) }
        let used = Bitrate(bitsPerSecond: Int(aacEncoder_GetParam(handle, AACENC_BITRATE)))
        guard used == bitrate else { throw .unsupportedBitrate(bitrate, format: format, nearest: used) }
    }

    private static func info(of handle: HANDLE_AACENCODER) throws(AudioEncodingError) -> AACENC_InfoStruct {
        var info = AACENC_InfoStruct()
        let status = aacEncInfo(handle, &info)
        guard status == AACENC_OK else { throw .libraryFailed(call: "aacEncInfo", status: status.rawValue) }
        return info
    }

    func setBitrate(_ bitrate: Bitrate) throws(AudioEncodingError) {
        let before = Int(aacEncoder_GetParam(handle, AACENC_BITRATE))
        try Self.set(AACENC_BITRATE, to: bitrate.bitsPerSecond, of: handle)
        do {
            try Self.apply(bitrate, format: format, of: handle)
        } catch {
            try Self.set(AACENC_BITRATE, to: before, of: handle)
            throw error
        }
    }

    /// Encodes interleaved samples and passes on each block that is completed.
    func encode(_ samples: ArraySlice<Int16>, _ give: ([UInt8]) -> Void) throws(AudioEncodingError) {
        var samples = samples
        while !samples.isEmpty {
            let step = try step(samples, count: samples.count)
            if let payload = step.payload { give(payload) }
            guard step.consumed > 0 || step.payload != nil else {
                throw .libraryFailed(call: "aacEncEncode accepts no samples", status: 0)
            }
            samples = samples.dropFirst(step.consumed)
        }
    }

    /// Passes on the remaining blocks. Nothing can be encoded afterwards.
    func flush(_ give: ([UInt8]) -> Void) throws(AudioEncodingError) {
        while let payload = try step([], count: -1).payload { give(payload) }
    }

    /// Makes one library call; a count of -1 asks for the remainder.
    private func step(
        _ samples: ArraySlice<Int16>, count: Int
    ) throws(AudioEncodingError) -> (consumed: Int, payload: [UInt8]?) {
        var result = AACENC_OutArgs()
        let status = samples.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                cfdkaac_encode(
                    handle, input.baseAddress, Int32(clamping: count), output.baseAddress,
                    Int32(clamping: output.count),
                    &result)
            }
        }
        if status == AACENC_ENCODE_EOF { return (0, nil) }
        guard status == AACENC_OK else { throw .libraryFailed(call: "aacEncEncode", status: status.rawValue) }
        let byteCount = Int(result.numOutBytes)
        return (Int(result.numInSamples), byteCount > 0 ? [UInt8](output.prefix(byteCount)) : nil)
    }
}
