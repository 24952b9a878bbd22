import Controls
import StreamLogic

/// Light and webcam do not belong to the stream; nor does mute, without a stream.
package struct DeviceChanges {
    package let light: ControlValue?
    package let isWebcam: Bool?
    package let isMuted: Bool?

    package var isEmpty: Bool { light == nil && isWebcam == nil && isMuted == nil }

    /// - Parameter hasMute: whether a computer hears the microphones without a stream.
    package init(takenFrom changes: inout RequestedChanges, hasMute: Bool) {
        light = changes.take(.torch)
        isWebcam = changes.take(.webcam).map { $0 == .flag(true) }
        isMuted = hasMute ? changes.takeMute() : nil
    }
}
