import CALSA
import Glibc
import LinuxIO

/// Why a sound card cannot capture.
public enum MicrophoneError: Error, Hashable, Sendable {
    case missing(device: String)
    case forbidden(device: String)
    case busy(device: String)
    /// The name is not a valid name of an ALSA hardware device.
    case badName(String)
    /// It was unplugged, or delivers no audio any longer.
    case gone(device: String)
    /// The file or pipe used instead of a microphone has ended; see the note.
    case ended(note: String)
    case failed(device: String, call: String, number: Int32)
    case resamplerFailed(reason: String)
    /// The driver does not answer.
    case blocked(device: String, NodeOccupancyError)

    /// How long a driver may take to open a card.
    static let answerTimeout = Duration.seconds(3)

    /// - Parameter status: result of an ALSA call, a negative error number.
    init(_ device: String, _ call: String, _ status: Int32) {
        switch -status {
        case ENOENT, ENXIO: self = .missing(device: device)
        case ENODEV: self = call == "snd_pcm_open" ? .missing(device: device) : .gone(device: device)
        case EACCES, EPERM: self = .forbidden(device: device)
        case EBUSY: self = .busy(device: device)
        // hw:CARD,DEVICE contains a number or word that no card can have.
        case EINVAL where call == "snd_pcm_open": self = .badName(device)
        case EBADFD where call != "snd_pcm_open": self = .gone(device: device)
        default: self = .failed(device: device, call: call, number: -status)
        }
    }
}

extension MicrophoneError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let device):
            "there is no microphone \(device); is it plugged in? tallycam microphones lists those found"
        case .forbidden(let device):
            "the microphone \(device) cannot be opened: permission denied; run as root or join the group audio"
        case .busy(let device): "the microphone \(device) is in use by another program; close it first"
        case .badName(let name):
            "\"\(name)\" is not the name of a microphone: write hw:CARD or hw:CARD,DEVICE, with the card's name or number (0 to 31)"
        case .gone(let device): "the microphone \(device) is gone"
        case .ended(let note): note
        case .failed(let device, let call, let number):
            "the microphone \(device): \(call): \(SystemCallError.reason(of: number))"
        case .resamplerFailed(let reason): "the resampler failed: \(reason)"
        case .blocked(let device, .blocked(_, let duration)):
            "the driver of the microphone \(device) has not answered for \(duration); plug the microphone in again, or restart the machine"
        case .blocked(let device, let error): "the microphone \(device): \(error)"
        }
    }
}
