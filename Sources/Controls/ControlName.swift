/// The controls of cameras, light and microphones that can be changed during a stream. Their order is used in every
/// list.
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
    case zoomCenter = "zoom-center"
    case mirror
    case flip
    case torch
    case webcam
    case microphoneGain = "microphone-gain"
    case mute

    /// Whether it changes which part of the camera's field of view is shown, or its orientation.
    public var isOfView: Bool { [.zoom, .zoomCenter, .mirror, .flip].contains(self) }

    /// Whether the camera implements it, rather than another part of the device.
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
