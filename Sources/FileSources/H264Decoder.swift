import Bitstream
import COpenH264
import DevicePorts
import Media

/// OpenH264's decoder: Baseline (without its rare tools), Main and High profile, 8-bit 4:2:0, progressive. Delivers frames in
/// display order.
final class H264Decoder {
    /// A frame in the library's memory, valid until the next call of the decoder.
    struct DecodedFrame {
        /// Number of the sample it was decoded from.
        let number: Int
        let size: FrameSize
        fileprivate let planes: [UnsafePointer<UInt8>]
        fileprivate let strides: [Int]

        /// Copies the planes one after the other, without padding.
        func copy(to memory: UnsafeMutableRawBufferPointer, _ layout: FrameLayout) {
            for (index, plane) in layout.planes.enumerated() {
                let width = index == 0 ? size.width : (size.width + 1) / 2
                let height = index == 0 ? size.height : (size.height + 1) / 2
                for row in 0..<height {
                    let target = plane.offset + row * plane.stride
                    UnsafeMutableRawBufferPointer(rebasing: memory[target..<target + width]).copyMemory(
                        from: UnsafeRawBufferPointer(start: planes[index] + row * strides[index], count: width))
                }
            }
        }
    }

    /// OpenH264's limits in macroblocks: MaxFS of level 5.2, and for each side the square root of 8 * MaxFS (H.264 table A-1
    /// and section A.3.1).
    private static let largestFrame = 36_864
    private static let longestSide = 543

    private let decoder: UnsafeMutablePointer<ISVCDecoder?>
    private let lengthSize: Int
    private let parameterSets: [UInt8]
    private var isStarted = false
    private var accessUnit: [UInt8] = []

    /// - Returns: why the library cannot decode such frames, for people; `nil` if it can.
    static func obstacle(to set: SequenceParameterSet) -> String? {
        guard [66, 77, 100].contains(set.profile) else {
            return "it has H.264 profile \(set.profile); Baseline, Main and High (66, 77, 100) are supported"
        }
        guard set.chromaFormat == 1, set.lumaBitDepth == 8, set.chromaBitDepth == 8 else {
            return "it is not 8-bit 4:2:0; ffmpeg -i FILE -pix_fmt yuv420p movie.mp4 converts it"
        }
        guard set.isProgressive else {
            return "it is interlaced; ffmpeg -i FILE -vf yadif movie.mp4 makes it progressive"
        }
        // The decoder's memory depends on the coded size, even if cropping leaves little of it.
        let coded = set.codedSize
        guard coded.macroblocks <= largestFrame, max(coded.width, coded.height) <= 16 * longestSide else {
            return "its frames have \(coded) pixels; OpenH264 decodes at most 4096x2304, with sides up to "
                + "\(16 * longestSide); ffmpeg -i FILE -vf scale=1920:-2 movie.mp4 makes them smaller"
        }
        return nil
    }

    init(_ record: AVCDecoderConfigurationRecord) throws(FileSourceError) {
        var created: UnsafeMutablePointer<ISVCDecoder?>?
        let status = WelsCreateDecoder(&created)
        guard status == 0, let created else {
            throw .decoderFailed(call: "WelsCreateDecoder", status: Int(status))
        }
        var level = Int32(WELS_LOG_QUIET)
        _ = created.pointee?.pointee.SetOption(created, DECODER_OPTION_TRACE_LEVEL, &level)
        var parameters = SDecodingParam()
        // Do not conceal errors: damaged frames are dropped until the next keyframe.
        parameters.eEcActiveIdc = ERROR_CON_DISABLE
        parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
        let initialized = Int(created.pointee?.pointee.Initialize(created, &parameters) ?? -1)
        guard initialized == 0 else {
            WelsDestroyDecoder(created)
            throw .decoderFailed(call: "OpenH264's Initialize", status: initialized)
        }
        lengthSize = record.nalUnitLengthSize
        parameterSets = (record.sequenceParameterSets + record.pictureParameterSets).flatMap { [0, 0, 0, 1] + $0 }
        decoder = created
    }

    deinit {
        _ = decoder.pointee?.pointee.Uninitialize(decoder)
        WelsDestroyDecoder(decoder)
    }

    /// - Parameters:
    ///   - sample: NAL units, each preceded by its length. An incomplete unit is dropped.
    ///   - number: of the sample, at least 0.
    /// - Returns: a frame, if one is ready: this one or an earlier one.
    func decode(_ sample: [UInt8], number: Int) -> DecodedFrame? {
        accessUnit.removeAll(keepingCapacity: true)
        if !isStarted { accessUnit += parameterSets }
        isStarted = true
        appendUnits(of: sample)
        var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
        var info = SBufferInfo()
        info.uiInBsTimeStamp = UInt64(number)
        // The status is only about broken samples, which yield no frame.
        _ = decoder.pointee?.pointee.DecodeFrameNoDelay(
            decoder, accessUnit, Int32(clamping: accessUnit.count), &planes, &info)
        return Self.frame(planes, info)
    }

    /// Call it after the last sample, until it returns no more frames.
    func flush() -> DecodedFrame? {
        var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
        var info = SBufferInfo()
        _ = decoder.pointee?.pointee.FlushFrame(decoder, &planes, &info)
        return Self.frame(planes, info)
    }

    private func appendUnits(of sample: [UInt8]) {
        var position = 0
        while sample.count - position > lengthSize {
            var length = 0
            for byte in sample[position..<position + lengthSize] { length = length << 8 | Int(byte) }
            position += lengthSize
            guard length <= sample.count - position else { return }
            accessUnit += [0, 0, 0, 1]
            accessUnit += sample[position..<position + length]
            position += length
        }
    }

    private static func frame(_ planes: [UnsafeMutablePointer<UInt8>?], _ info: SBufferInfo) -> DecodedFrame? {
        let buffer = info.UsrData.sSystemBuffer
        guard info.iBufferStatus == 1, let y = planes[0], let u = planes[1], let v = planes[2], buffer.iWidth > 0,
            buffer.iHeight > 0, buffer.iStride.0 >= buffer.iWidth, buffer.iStride.1 >= (buffer.iWidth + 1) / 2
        else { return nil }
        return DecodedFrame(
            number: Int(clamping: info.uiOutYuvTimeStamp),
            size: FrameSize(width: Int(buffer.iWidth), height: Int(buffer.iHeight)),
            planes: [UnsafePointer(y), UnsafePointer(u), UnsafePointer(v)],
            strides: [Int(buffer.iStride.0), Int(buffer.iStride.1), Int(buffer.iStride.1)])
    }
}
