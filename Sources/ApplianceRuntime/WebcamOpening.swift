import LinuxIO
import Media
import Settings
import StreamLogic
import USBVideo

// The gadget: when there is one, and what it is made of.
extension ApplianceRunner {
    /// Makes the camera a webcam, or ends that, as device.json or a command says.
    /// - Parameter hasOtherCamera: than it had.
    func openWebcam(hasOtherCamera: Bool = false) {
        if hasOtherCamera { webcam.cameraChanged(now: MonotonicClock.now()) }
        let isWanted = webcam.decide(file: files.device.webcam != .off)
        let plan = webcamPlan
        guard isWanted != webcam.isWanted || isWanted && webcam.isOutdated(plan) else { return }
        if webcam.isWanted {
            webcam.end(now: MonotonicClock.now())
            showWebcam()
        }
        guard isWanted else { return }
        webcam.start(plan, now: MonotonicClock.now())
        // Nobody has to wait for the camera to learn that; it is tried all the same.
        webcam.problems.gadget = stream.engine.webcamAbsence
        if stream.isRunning { webcam.takeStreamsMute() }
        commands.lookAtControls()
        connectWebcam()
    }

    /// As soon as it is known what the camera has, as a computer asks for that once, and the gadget before is gone.
    func connectWebcam() {
        guard webcam.isWanted, webcam.relay.sink == nil, webcam.ending == nil, webcam.retryTime == nil,
            let plan = webcam.plan, let controls = webcam.controls
        else { return }
        let (reports, number) = (stream.reports, webcam.number)
        let request = WebcamRequest(identity: plan.identity, bus: plan.bus, asks: plan.asks, controls: controls)
        do {
            webcam.opened(try stream.engine.openWebcam(request) { reports.send(.webcam(number, $0)) })
        } catch {
            let reason = "\(error)"
            guard webcam.failed(reason, now: MonotonicClock.now()) else { return }
            tell(WebcamEvent.failed(reason: reason).text)
        }
    }

    /// As the files have it now.
    private var webcamPlan: GadgetPlan {
        GadgetPlan(
            identity: GadgetIdentity(name: files.network.hostName, serialNumber: Self.serialNumber),
            bus: IsochronousBudget(of: files.board?.devicePort), asks: files.device.webcam == .ask)
    }

    /// Of the board; else the same for all.
    private static var serialNumber: String {
        let text = (try? readFile("/sys/firmware/devicetree/base/serial-number", limit: 64)) ?? []
        let serial = String(decoding: text.prefix { $0 > 32 && $0 < 127 }, as: UTF8.self)
        return serial.isEmpty ? "tallycam" : serial
    }
}

extension IsochronousBudget {
    init(of port: BoardDescription.DevicePort?) {
        guard let port else {
            self.init()
            return
        }
        self.init(packetBytes: port.packetBytes, interval: port.interval)
    }
}
