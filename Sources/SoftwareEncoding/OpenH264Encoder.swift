import Bitstream
import COpenH264
import DevicePorts
import Media

/// H.264 in software, with OpenH264. Frames of another size or format are scaled and converted first.
public final class OpenH264Encoder {
    public private(set) var configuration: VideoEncoderConfiguration
    public private(set) var skippedFrameCount = 0
    public private(set) var conversionCount = 0

    private let session: OpenH264Session
    private var header: AVCDecoderConfigurationRecord?
    private var scaler: SoftwareScaler?
    private var keyframeSchedule = KeyframeSchedule()
    private var firstCaptureTime: MediaTimestamp?

    /// - Parameter threadCount: with more than one, each frame is cut into that many slices, each encoded on its own thread.
    ///   This costs a little quality.
    public init(configuration: VideoEncoderConfiguration, threadCount: Int = 1) throws(VideoEncodingError) {
        let size = configuration.size
        guard size.width % 2 == 0, size.height % 2 == 0, (16...3840).contains(size.width),
            (16...2160).contains(size.height)
        else { throw .unsupportedSize(size) }
        try Self.check(configuration)
        self.configuration = configuration
        session = try OpenH264Session()
        try session.initialize(
            session.defaultParameters().configured(for: configuration, threadCount: threadCount))
        try verifyParameterSets()
    }

    private static func check(_ configuration: VideoEncoderConfiguration) throws(VideoEncodingError) {
        guard configuration.frameRate.framesPerSecond <= 60 else {
            throw .unsupportedFrameRate(configuration.frameRate)
        }
        let bitrate = configuration.bitrate
        guard bitrate.bitsPerSecond >= 1000,
            configuration.level.carries(configuration.size, at: configuration.frameRate, bitrate: bitrate)
        else {
            throw .levelExceeded(
                configuration.level, size: configuration.size, frameRate: configuration.frameRate, bitrate: bitrate)
        }
    }

    /// The library raises profile_idc and level_idc by its own rules. A stream that differs from the request is refused before
    /// it starts.
    private func verifyParameterSets() throws(VideoEncodingError) {
        let written = try session.parameterSets().withUnsafeBytes { AnnexBAccessUnit($0).parameterSets }
        guard let written else {
            throw .libraryFailed(call: "EncodeParameterSets", status: 0, reason: "no readable SPS and PPS")
        }
        guard written.profile == configuration.profile.rawValue else {
            throw .unexpectedParameterSet(
                field: "profile_idc", asked: configuration.profile.rawValue, written: written.profile)
        }
        guard written.level == configuration.level.rawValue else {
            throw .unexpectedParameterSet(
                field: "level_idc", asked: configuration.level.rawValue, written: written.level)
        }
    }

    /// - Returns: the finished packets: none if the encoder skipped the frame; a `videoHeader` first whenever it has changed.
    public func encode(_ frame: CapturedFrame) throws(VideoEncodingError) -> [EncodedPacket] {
        let time = frame.captureTime
        let isKeyframe = keyframeSchedule.frameArrived(at: time, configuration: configuration)
        if isKeyframe { try makeNextFrameKey(true) }
        let layout = frame.layout
        let scaler = try scaler(for: layout)
        conversionCount += scaler.passCount
        let encoded = try frame.withBytes { bytes throws(VideoEncodingError) in
            try scaler.scale(bytes) { bytes, layout throws(VideoEncodingError) in
                try session.encode(libraryFrame(bytes, layout, at: time))
            }
        }
        if isKeyframe { try makeNextFrameKey(false) }
        let unit = encoded.map { $0.withUnsafeBytes { AnnexBAccessUnit($0) } }
        if unit?.containsFrame != true {
            skippedFrameCount += 1
            // A skipped keyframe is still needed.
            if isKeyframe { keyframeSchedule.keyframeRequested() }
        }
        return unit.map { packets($0, at: time) } ?? []
    }

    /// An interval of one frame makes the next frame IDR; zero means none. ForceIntraFrame would work too, but forgets the rate
    /// control's buffer level.
    private func makeNextFrameKey(_ isKey: Bool) throws(VideoEncodingError) {
        try session.setOption(ENCODER_OPTION_IDR_INTERVAL, named: "IDR_INTERVAL", to: Int32(isKey ? 1 : 0))
    }

    private func scaler(for layout: FrameLayout) throws(VideoEncodingError) -> SoftwareScaler {
        if let scaler, scaler.source == layout { return scaler }
        let scaler = try SoftwareScaler(from: layout, to: configuration.size)
        self.scaler = scaler
        return scaler
    }

    private func libraryFrame(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, at time: MediaTimestamp
    ) -> SSourcePicture {
        var frame = SSourcePicture()
        let base = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        frame.iColorFormat = Int32(videoFormatI420.rawValue)
        frame.iPicWidth = Int32(layout.size.width)
        frame.iPicHeight = Int32(layout.size.height)
        frame.pData.0 = base.map { $0 + layout.planes[0].offset }
        frame.pData.1 = base.map { $0 + layout.planes[1].offset }
        frame.pData.2 = base.map { $0 + layout.planes[2].offset }
        frame.iStride.0 = Int32(layout.planes[0].stride)
        frame.iStride.1 = Int32(layout.planes[1].stride)
        frame.iStride.2 = Int32(layout.planes[2].stride)
        // In milliseconds, used only for rate control. Zero would mean unknown.
        let first = firstCaptureTime ?? time
        firstCaptureTime = first
        frame.uiTimeStamp = max(0, (time - first).wholeNanoseconds / 1_000_000) + 1
        return frame
    }

    private func packets(_ unit: AnnexBAccessUnit, at time: MediaTimestamp) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        if let sets = unit.parameterSets, sets != header {
            header = sets
            packets.append(EncodedPacket(kind: .videoHeader, decodeTime: time, payload: sets.bytes))
        }
        if unit.containsFrame {
            packets.append(
                EncodedPacket(kind: .video(isKeyframe: unit.isKeyframe), decodeTime: time, payload: unit.payload))
        }
        return packets
    }

    /// Makes the next frame a keyframe.
    public func requestKeyframe() { keyframeSchedule.keyframeRequested() }

    public func setBitrate(_ bitrate: Bitrate) throws(VideoEncodingError) {
        var changed = configuration
        changed.bitrate = bitrate
        try Self.check(changed)
        let info = SBitrateInfo(iLayer: SPATIAL_LAYER_0, iBitrate: Int32(bitrate.bitsPerSecond))
        try session.setOption(ENCODER_OPTION_BITRATE, named: "BITRATE", to: info)
        configuration = changed
    }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws(VideoEncodingError) {
        var changed = configuration
        changed.frameRate = frameRate
        changed.keyframeInterval = keyframeInterval
        try Self.check(changed)
        try session.setOption(
            ENCODER_OPTION_FRAME_RATE, named: "FRAME_RATE", to: Float(frameRate.framesPerSecond))
        configuration = changed
    }
}
