import Settings
import StreamLogic

/// Why a computer gets nothing, or nothing new, by the part that found it.
package struct WebcamProblems {
    /// Why there is no gadget.
    package var gadget: String?
    /// Why the gadget's microphone does not work.
    package var card: String?
    /// Problems without a stream.
    package var idleCamera: String?
    package var idleMicrophone: String?
    /// The stream's camera, if it is the active one.
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

    /// Reports an event of the stream's camera or microphones.
    package mutating func sourceChanged(_ event: SourceEvent) {
        streamMicrophones.changed(event)
        switch event {
        case .interrupted(.video, _, _): streamCamera = event.text
        case .returned(.video, _, _): streamCamera = nil
        case .started, .interrupted(.audio, _, _), .returned(.audio, _, _): break
        }
    }

    /// Another camera is active and delivers frames.
    package mutating func cameraSwitched() { streamCamera = nil }

    /// The gadget is gone. Problems of camera and microphones still apply to the next one.
    mutating func gadgetEnded() { (gadget, card) = (nil, nil) }
}
