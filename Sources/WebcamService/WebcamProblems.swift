import Settings
import StreamLogic

/// Why a computer gets nothing, or nothing new, by whoever has found it.
package struct WebcamProblems {
    /// There is no gadget.
    package var gadget: String?
    /// The gadget's microphone does not work.
    package var card: String?
    /// Without a stream.
    package var idleCamera: String?
    package var idleMicrophone: String?
    /// The stream's camera, as far as it is on.
    private var streamCamera: String?
    private var streamMicrophones = LostMicrophones(of: 1)
    private var streamAudio: String?

    var camera: String? { streamCamera ?? idleCamera }
    var microphone: String? { card ?? streamAudio ?? streamMicrophones.problem ?? idleMicrophone }

    mutating func streamStarted(_ device: DeviceDescription) {
        streamEnded()
        streamMicrophones = LostMicrophones(of: device.microphones.count)
        if device.audioSource == .none { streamAudio = "device.json names none" }
    }

    mutating func streamEnded() {
        (streamCamera, streamAudio) = (nil, nil)
        streamMicrophones = LostMicrophones(of: 1)
    }

    /// Of the stream's camera and microphones.
    package mutating func sourceChanged(_ event: SourceEvent) {
        streamMicrophones.changed(event)
        switch event {
        case .interrupted(.video, _, _): streamCamera = event.text
        case .returned(.video, _, _): streamCamera = nil
        case .started, .interrupted(.audio, _, _), .returned(.audio, _, _): break
        }
    }

    /// Another one is on, and gives frames.
    package mutating func cameraSwitched() { streamCamera = nil }

    /// The gadget is gone; what is known of camera and microphones holds for the next one.
    mutating func gadgetEnded() { (gadget, card) = (nil, nil) }
}
