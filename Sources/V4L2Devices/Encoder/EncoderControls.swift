import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// An encoder's settings. Optional ones are skipped if the driver lacks them.
struct EncoderControls {
    let device: V4L2Device

    /// Applies everything that must be set before buffers exist.
    func apply(_ configuration: VideoEncoderConfiguration) throws(HardwareEncodingError) {
        try setProfile(configuration.profile)
        try setLevel(configuration)
        _ = try? set(clinux_v4l2_cid_b_frames, 0)
        _ = try? set(clinux_v4l2_cid_header_mode, clinux_v4l2_header_mode_joined)
        _ = try? set(clinux_v4l2_cid_repeat_headers, 1)
        // Constant bit rate times out with some Pi firmware, and variable keeps the average just as well.
        _ = try? set(clinux_v4l2_cid_bitrate_mode, clinux_v4l2_bitrate_mode_variable)
        try setKeyframeInterval(configuration.keyframeInterval)
        try setBitrate(configuration.bitrate)
    }

    func setBitrate(_ bitrate: Bitrate) throws(HardwareEncodingError) {
        guard let range = range(of: clinux_v4l2_cid_bitrate) else { return }
        let clamped = min(max(Int64(bitrate.bitsPerSecond), range.lowerBound), range.upperBound)
        do throws(V4L2Error) {
            try set(clinux_v4l2_cid_bitrate, Int32(clamping: clamped))
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
    }

    func setKeyframeInterval(_ frames: Int) throws(HardwareEncodingError) {
        let value = Int32(clamping: frames)
        if (try? set(clinux_v4l2_cid_i_period, value)) == nil { _ = try? set(clinux_v4l2_cid_gop_size, value) }
    }

    func forceKeyframe() throws(V4L2Error) { try set(clinux_v4l2_cid_force_keyframe, 0) }

    private func setProfile(_ profile: H264Profile) throws(HardwareEncodingError) {
        let candidates: [Int32] =
            switch profile {
            case .baseline:
                [clinux_v4l2_profile_baseline, clinux_v4l2_profile_constrained_baseline]
            case .main: [clinux_v4l2_profile_main]
            case .high: [clinux_v4l2_profile_high]
            }
        guard range(of: clinux_v4l2_cid_profile) != nil else { return }
        for candidate in candidates where (try? set(clinux_v4l2_cid_profile, candidate)) != nil {
            return
        }
        throw .unsupportedProfile(path: device.path, profile)
    }

    /// Sets the requested level, raised if the frames need more but never above the encoder's limit.
    private func setLevel(_ configuration: VideoEncoderConfiguration) throws(HardwareEncodingError) {
        guard let range = range(of: clinux_v4l2_cid_level) else { return }
        let needed = H264Level.level1_0.raised(
            toCarry: configuration.size, at: configuration.frameRate, bitrate: configuration.bitrate)
        guard let needed, Int64(needed.menuIndex) <= range.upperBound else {
            throw .levelExceeded(path: device.path, needed: needed)
        }
        // The requested level leaves room for better qualities; an encoder without it does what it can.
        let wanted = Int64(max(needed, configuration.level).menuIndex)
        do throws(V4L2Error) {
            try set(clinux_v4l2_cid_level, Int32(clamping: min(wanted, range.upperBound)))
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
    }

    private func range(of control: UInt32) -> ClosedRange<Int64>? {
        var query = v4l2_query_ext_ctrl()
        query.id = control
        let isThere = try? device.requestUnless(
            EINVAL, "VIDIOC_QUERY_EXT_CTRL", clinux_vidioc_query_ext_ctrl, &query)
        guard isThere == true, query.minimum <= query.maximum else { return nil }
        return query.minimum...query.maximum
    }

    private func set(_ control: UInt32, _ value: Int32) throws(V4L2Error) {
        var entry = v4l2_ext_control()
        entry.id = control
        entry.value = value
        try device.setControl(&entry)
    }
}

extension H264Level {
    /// The level's index in the control's menu, which has 1b between 1.0 and 1.1.
    var menuIndex: Int32 {
        let index = Int32(Self.allCases.firstIndex(of: self) ?? 0)
        return index == 0 ? 0 : index + 1
    }
}
