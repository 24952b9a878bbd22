import AudioCapture
import BoardIO
import BoardRuntime
import Controls
import DevicePorts
import DeviceStreams
import LinuxIO
import Media
import Synchronization
import USBVideo
import V4L2Devices
import WebcamService

/// The gadget with its microphone and its video function's node, which is closed before the gadget is removed.
private final class GadgetNode: WebcamNode {
    /// Name of its directory in configfs.
    fileprivate static let name = "tallycam"

    private let gadget: BoundGadget
    private var node: GadgetVideoNode?
    private(set) var microphone: GadgetMicrophone?

    init(
        _ tree: GadgetTree, recorded: @escaping @Sendable (Bool) -> Void,
        failed: @escaping @Sendable (MicrophoneError) -> Void
    ) throws {
        gadget = try BoundGadget(tree, name: Self.name)
        node = try GadgetVideoNode()
        microphone = try GadgetMicrophone(recorded: recorded, failed: failed)
    }

    deinit {
        microphone?.end()
        microphone = nil
        node = nil
    }

    var isRecorded: Bool { microphone?.wantsAudio ?? false }
    var fileDescriptor: Int32 { node?.fileDescriptor ?? -1 }
    func nextEvent() throws -> VideoFunction.Event? { try node?.nextEvent() }
    func answer(_ answer: ControlAnswer) throws { try node?.answer(answer) }
    func start(_ choice: VideoChoice) throws { try node?.start(choice) }
    func stop() { node?.stop() }
    func reopen() throws {
        node = nil
        node = try GadgetVideoNode()
    }
    func hasRoom() throws -> Bool { try node?.hasRoom() ?? false }
    func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int) throws -> Bool { try node?.send(fill) ?? false }
}

/// Everything a computer sees of the device: the video function's service and the microphone.
final class WebcamGadget: WebcamSink {
    /// The gadget's present microphone.
    private final class MicrophoneInUse: Sendable {
        private struct Reference { weak var microphone: GadgetMicrophone? }

        private let reference = Mutex(Reference())

        var microphone: GadgetMicrophone? {
            get { reference.withLock { $0.microphone } }
            set { reference.withLock { $0.microphone = newValue } }
        }
    }

    private let webcam: Webcam
    private let microphoneInUse = MicrophoneInUse()

    init(_ request: WebcamRequest, report: @escaping @Sendable (WebcamReport) -> Void) throws {
        let (identity, microphoneInUse) = (request.identity, microphoneInUse)
        webcam = try Webcam(
            on: request.bus, controls: request.controls, asks: request.asks,
            open: { offer, bus, controls in
                let node = try GadgetNode(GadgetTree(identity, offer, on: bus, controls: controls)) {
                    report(.recorded($0))
                } failed: {
                    report(.event(.microphoneFailed(reason: "\($0)")))
                }
                microphoneInUse.microphone = node.microphone
                return node
            }, report: report)
    }

    /// Why there can be no webcam at present.
    static var absence: String? { BoundGadget.absence.map { "\($0)" } }

    /// Removes the leftovers of a run that was killed.
    static func removeFormer() {
        // If the thread cannot be created, the next start tries again.
        _ = try? NamedThread("webcam", mayBlock: true) { BoundGadget.removeLeftovers(name: GadgetNode.name) }
    }

    var wantsFrames: Bool { webcam.wantsFrames }
    func offer(_ frame: CapturedFrame, colors: VideoColors?) { webcam.offer(frame, colors: colors) }
    func framesEnded() { webcam.framesEnded() }
    var wantsAudio: Bool { microphoneInUse.microphone?.wantsAudio ?? false }
    func offer(_ block: AudioBlock, format: AudioFormat) { microphoneInUse.microphone?.offer(block, format: format) }
    func controlsChanged(_ statuses: [ControlStatus]) { webcam.controlsChanged(statuses) }
    func allow() { webcam.allow() }
    func end() { webcam.end() }
    var statistics: WebcamStatistics { webcam.statistics }
}
