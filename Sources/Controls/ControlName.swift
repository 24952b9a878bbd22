/// What a hand can change of cameras, light and microphones while a stream is live. The order is that of every list.
public enum ControlName: String, CaseIterable, Sendable {
    case focus
    case focusPoint = "focus-point"
    case lens
    case exposure
    case exposureTime = "exposure-time"
    case gain
    case exposureValue = "exposure-value"
    case metering
    case exposurePoint = "exposure-point"
    case whiteBalance = "white-balance"
    case brightness
    case contrast
    case saturation
    case sharpness
    case denoise
    case zoom
    case zoomCentre = "zoom-centre"
    case mirror
    case flip
    case torch
    case webcam
    case microphoneGain = "microphone-gain"
    case mute

    /// Which part of what the camera sees is shown, and which way round.
    public var isOfView: Bool { [.zoom, .zoomCentre, .mirror, .flip].contains(self) }

    /// Whether the camera does it, and no other part of the device.
    public var isOfCamera: Bool {
        switch self {
        case .torch, .webcam, .microphoneGain, .mute: false
        default: true
        }
    }
}

extension ControlName: CustomStringConvertible {
    public var description: String { rawValue }
}
