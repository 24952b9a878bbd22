import CALSA

/// A card's capture volume, from alsa-lib's simple mixer.
final class CaptureVolume {
    private let mixer: OpaquePointer
    private let element: OpaquePointer

    /// The usual names. Any other name is accepted if it is the only one.
    private static let usualNames = ["Capture", "Mic"]
    /// In hundredths of a dB. Cards use lower values for silence.
    private static let lowest = -10_000

    /// - Returns: `nil` if the device has no volume with a dB scale.
    init?(card: Int32, device: UInt32) {
        guard let mixer = Self.openMixer(card: card) else { return nil }
        guard let element = Self.element(of: mixer, device: device) else {
            snd_mixer_close(mixer)
            return nil
        }
        self.mixer = mixer
        self.element = element
    }

    deinit { snd_mixer_close(mixer) }

    private static func openMixer(card: Int32) -> OpaquePointer? {
        var control: OpaquePointer?
        let status = ALSAConfiguration.with { snd_ctl_open_lconf(&control, "hw:\(card)", 0, $0) }
        guard status >= 0, let control else { return nil }
        var elements: OpaquePointer?
        guard snd_hctl_open_ctl(&elements, control) >= 0, let elements else {
            snd_ctl_close(control)
            return nil
        }
        var opened: OpaquePointer?
        guard snd_mixer_open(&opened, 0) >= 0, let mixer = opened else {
            snd_hctl_close(elements)
            return nil
        }
        // From here on, the mixer closes the elements, even if attaching fails.
        guard snd_mixer_attach_hctl(mixer, elements) >= 0, snd_mixer_selem_register(mixer, nil, nil) >= 0,
            snd_mixer_load(mixer) >= 0
        else {
            snd_mixer_close(mixer)
            return nil
        }
        return mixer
    }

    /// Drivers give a device's volume the device's own number.
    private static func element(of mixer: OpaquePointer, device: UInt32) -> OpaquePointer? {
        var candidates: [(name: String, element: OpaquePointer)] = []
        var next = snd_mixer_first_elem(mixer)
        while let element = next {
            next = snd_mixer_elem_next(element)
            guard snd_mixer_selem_is_active(element) != 0, snd_mixer_selem_get_index(element) == device,
                hasScale(element)
            else { continue }
            candidates.append((String(cString: snd_mixer_selem_get_name(element)), element))
        }
        for name in usualNames {
            if let usual = candidates.first(where: { $0.name == name }) { return usual.element }
        }
        // A volume shared with playback may be a loudspeaker's.
        let others = candidates.filter { snd_mixer_selem_has_common_volume($0.element) == 0 }
        return others.count == 1 ? others[0].element : nil
    }

    private static func hasScale(_ element: OpaquePointer) -> Bool {
        var (least, most) = (0, 0)
        return snd_mixer_selem_has_capture_volume(element) != 0
            && snd_mixer_selem_get_capture_dB_range(element, &least, &most) >= 0 && least < most
    }

    /// Sets the volume as closely as the card can.
    /// - Parameter decibels: `nil` to leave it unchanged.
    /// - Returns: the volume that the card reports afterwards; `nil` if it reports none, or silence.
    func set(_ decibels: Double?) -> Double? {
        if let decibels, decibels.magnitude <= 100 {
            // Choose the step at or above the request. The lowest step may be silence, and excess gain can be removed
            // digitally.
            guard snd_mixer_selem_set_capture_dB_all(element, Int((100 * decibels).rounded()), 1) >= 0 else {
                return nil
            }
        }
        // Other programs may have changed it too.
        snd_mixer_handle_events(mixer)
        var value = 0
        guard snd_mixer_selem_get_capture_dB(element, SND_MIXER_SCHN_FRONT_LEFT, &value) >= 0, value >= Self.lowest
        else { return nil }
        return Double(value) / 100
    }
}
