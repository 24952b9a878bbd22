/// The requested level of a microphone.
public struct MicrophoneLevel: Hashable, Sendable {
    /// In dB.
    public static let gainRange = -60.0...40

    /// In dB, on the card's own scale if it has a capture volume; `nil` leaves that volume unchanged.
    public var gain: Double?
    /// Silence is sent instead of audio; the microphone keeps running.
    public var isMuted: Bool

    public init(gain: Double? = nil, isMuted: Bool = false) {
        self.gain = gain
        self.isMuted = isMuted
    }
}

/// The gain applied to a microphone, in dB.
public struct MicrophoneGain: Hashable, Sendable {
    /// Gain of the card's capture volume, as reported by the card; `nil` if it has none.
    public var hardware: Double?
    /// Gain of the captured samples, which are clipped at full scale.
    public var digital: Double

    public var total: Double { (hardware ?? 0) + digital }

    public init(hardware: Double? = nil, digital: Double = 0) {
        self.hardware = hardware
        self.digital = digital
    }
}
