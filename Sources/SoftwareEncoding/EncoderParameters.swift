import COpenH264
import DevicePorts
import Media

extension SEncParamExt {
    /// The library's defaults, adjusted for a live stream. The numbers were chosen with 20 s clips at every quality.
    func configured(for configuration: VideoEncoderConfiguration, threadCount: Int) -> SEncParamExt {
        var parameters = self
        parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
        parameters.iPicWidth = Int32(configuration.size.width)
        parameters.iPicHeight = Int32(configuration.size.height)
        parameters.fMaxFrameRate = Float(configuration.frameRate.framesPerSecond)
        parameters.iTargetBitrate = Int32(configuration.bitrate.bitsPerSecond)
        parameters.setRateControl()
        parameters.setPrediction()
        parameters.iEntropyCodingModeFlag = configuration.profile == .baseline ? 0 : 1
        parameters.iMultipleThreadIdc = UInt16(clamping: max(1, threadCount))
        parameters.sSpatialLayers.0 = layer(for: configuration, threadCount: threadCount)
        return parameters
    }

    private mutating func setRateControl() {
        // Keeps the bit rate like RC_BITRATE_MODE does (within 0.3 % of each other), and also adapts the quantizer within a
        // keyframe. The largest keyframes become 20 to 45 % smaller at equal PSNR.
        iRCMode = RC_QUALITY_MODE
        bEnableFrameSkip = true
        bFixRCOverShoot = true
        // Percent of a frame's average share. With 400, the default, the encoder skips frames after each keyframe of rich
        // content; below 300 there is no further gain.
        iIdrBitrateRatio = 300
        // The lowest quantizer that the library allows, and the highest that exists.
        iMinQp = 12
        iMaxQp = 51
        // Leave the limit to the level: a limit near the target makes the stream fall short of it.
        iMaxBitrate = Int32(UNSPECIFIED_BIT_RATE)
    }

    private mutating func setPrediction() {
        iComplexityMode = LOW_COMPLEXITY
        iNumRefFrame = 1
        iTemporalLayerNum = 1
        iSpatialLayerNum = 1
        // `KeyframeSchedule` decides.
        uiIntraPeriod = 0
        eSpsPpsIdStrategy = CONSTANT_ID
        bEnableSceneChangeDetect = false
        bEnableLongTermReference = false
        // Costs 0.2 dB and saves no bits.
        bEnableBackgroundDetection = false
        bEnableDenoise = false
    }

    private func layer(for configuration: VideoEncoderConfiguration, threadCount: Int) -> SSpatialLayerConfig {
        var layer = sSpatialLayers.0
        layer.iVideoWidth = Int32(configuration.size.width)
        layer.iVideoHeight = Int32(configuration.size.height)
        layer.fFrameRate = Float(configuration.frameRate.framesPerSecond)
        layer.iSpatialBitrate = Int32(configuration.bitrate.bitsPerSecond)
        layer.iMaxSpatialBitrate = Int32(UNSPECIFIED_BIT_RATE)
        layer.uiProfileIdc =
            switch configuration.profile {
            case .baseline: PRO_BASELINE
            case .main: PRO_MAIN
            case .high: PRO_HIGH
            }
        layer.uiLevelIdc = ELevelIdc(rawValue: .init(configuration.level.rawValue))
        if threadCount > 1 {
            layer.sSliceArgument.uiSliceMode = SM_FIXEDSLCNUM_SLICE
            layer.sSliceArgument.uiSliceNum = UInt32(clamping: threadCount)
        } else {
            layer.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
        }
        return layer
    }
}
