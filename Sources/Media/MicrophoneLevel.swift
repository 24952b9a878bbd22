/// How loud a microphone is wanted.
public struct MicrophoneLevel: Hashable, Sendable {
    /// In dB.
    public static let gainRange = -60.0...40

    /// In dB, by the card's own scale where it has a capture volume; `nil` leaves that volume as it is.
    public var gain: Double?
    /// Silence goes out instead of audio; the microphone goes on.
    public var isMuted: Bool

    public init(gain: Double? = nil, isMuted: Bool = false) {
        self.gain = gain
        self.isMuted = isMuted
    }
}

/// What amplifies a microphone, in dB.
public struct MicrophoneGain: Hashable, Sendable {
    /// Of the card's capture volume, as the card says; `nil` where it has none.
    public var hardware: Double?
    /// Of the samples, after they were captured. What gets too loud is cut off at full scale.
    public var digital: Double

    public var total: Double { (hardware ?? 0) + digital }

    public init(hardware: Double? = nil, digital: Double = 0) {
        self.hardware = hardware
        self.digital = digital
    }
}
