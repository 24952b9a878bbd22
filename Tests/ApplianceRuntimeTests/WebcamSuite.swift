import Controls
import Media
import StreamLogic
import Testing
import USBVideo

@testable import ApplianceRuntime
@testable import BoardRuntime
@testable import DeviceStreams

/// Tests of the camera as a computer's webcam.
protocol WebcamSuite {
    var camera: Camera { get }
}

extension WebcamSuite {
    var webcams: ScriptedWebcams { camera.streams.webcams }
    var idle: ScriptedIdleDevice<IdleFramesRequest, IdleFramesEvent> { camera.streams.idleFrames }
    var idleAudio: ScriptedIdleDevice<IdleAudioRequest, IdleAudioEvent> { camera.streams.idleAudio }
    var runs: [ScriptedStreams.Run] { camera.streams.runs }

    static var looking: WebcamState {
        let offer = VideoOffer(on: IsochronousBudget())
        let mode = offer.formats[0].modes[2]
        return .active(.high, VideoChoice(mode: mode, interval: mode.usualInterval))
    }

    static var statuses: [ControlStatus] {
        [ControlStatus(ControlOffer(.brightness, range: -1...1), wished: nil, report: CameraReport())]
    }

    func start(_ webcam: String = "true") throws {
        try camera.write("device", #"{"camera": "synthetic", "webcam": \#(webcam)}"#)
        try camera.start()
        try camera.waitUntil { try camera.state() == "ready" }
    }

    /// Starts with a gadget that knows the camera's controls.
    func startWithGadget(_ webcam: String = "true") throws {
        try start(webcam)
        try camera.waitUntil { idle.isOpen }
        idle.events.send(.controls(Self.statuses))
        try camera.waitUntil { webcams.openings == 1 && !idle.isOpen }
    }

    /// Reports the state and waits for it in the status.
    func report(_ state: WebcamState) throws {
        webcams.report(.event(.changed(state)))
        try camera.waitUntil { try camera.status().webcam?.state == state.name }
    }

    func look() throws { try report(Self.looking) }
}
