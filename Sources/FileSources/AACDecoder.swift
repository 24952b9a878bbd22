import CFDKAAC

/// fdk-aac's decoder for AAC-LC and HE-AAC. More than two channels are mixed to two.
final class AACDecoder {
    /// The samples decoded from one packet.
    struct Block {
        /// Interleaved.
        let samples: [Int16]
        let sampleRate: Int
        let channelCount: Int
        /// The decoder's delay in frames.
        let delay: Int

        var frameCount: Int { samples.count / channelCount }
    }

    private let handle: HANDLE_AACDECODER
    /// Room for the longest packet with eight channels.
    private var output = [Int16](repeating: 0, count: 8 * 2048)

    /// - Parameter configuration: an AudioSpecificConfig.
    init(_ configuration: [UInt8]) throws(FileSourceError) {
        guard let opened = aacDecoder_Open(TT_MP4_RAW, 1) else {
            throw .decoderFailed(call: "aacDecoder_Open", status: 0)
        }
        // Turn the limiter off; it would only add delay.
        let settings: [(AACDEC_PARAM, Int32)] = [(AAC_PCM_LIMITER_ENABLE, 0), (AAC_PCM_MAX_OUTPUT_CHANNELS, 2)]
        var status = AAC_DEC_OK
        for (parameter, value) in settings where status == AAC_DEC_OK {
            status = aacDecoder_SetParam(opened, parameter, value)
        }
        if status == AAC_DEC_OK { status = cfdkaac_configure(opened, configuration, UInt32(configuration.count)) }
        guard status == AAC_DEC_OK else {
            aacDecoder_Close(opened)
            throw .decoderFailed(call: "aacDecoder_ConfigRaw", status: Int(status.rawValue))
        }
        handle = opened
    }

    deinit { aacDecoder_Close(handle) }

    /// - Returns: `nil` if the packet cannot be decoded.
    func decode(_ packet: [UInt8]) -> Block? {
        guard cfdkaac_fill(handle, packet, UInt32(packet.count)) == AAC_DEC_OK,
            aacDecoder_DecodeFrame(handle, &output, Int32(output.count), 0) == AAC_DEC_OK,
            let info = aacDecoder_GetStreamInfo(handle)?.pointee
        else { return nil }
        let count = Int(info.frameSize) * Int(info.numChannels)
        guard info.numChannels > 0, info.frameSize > 0, info.sampleRate > 0, count <= output.count else { return nil }
        return Block(
            samples: Array(output[..<count]), sampleRate: Int(info.sampleRate), channelCount: Int(info.numChannels),
            delay: Int(info.outputDelay))
    }
}
