import ApplianceLogic
import BoardRuntime
import CardStorage
import DeviceStreams
import LinuxIO
import Media
import Settings
import StreamLogic

/// Examinations for people at the console and clients of the socket, one at a time. Used from the main thread.
final class DoctorDuty {
    unowned let device: ApplianceDevice
    private var present: (run: DoctorRun, asker: CommandAsker)?

    init(of device: ApplianceDevice) { self.device = device }

    /// - Returns: `nil` if the answer comes later, line by line.
    func start(for asker: CommandAsker, now: MediaTimestamp) -> CommandAnswer? {
        guard present == nil else { return .failed("the doctor is already at work; try again in some seconds") }
        do throws(SystemCallError) {
            let run = try DoctorRun(
                device.settings, device.stream.engine, knowing: DoctorKnowledge(of: device), card: device.card.calls,
                now: now)
            present = (run, asker)
            return nil
        } catch {
            return .failed("\(error)")
        }
    }

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.doctor, present?.run.fileDescriptor ?? -1)
        waits.wake(at: present?.run.nextDeadline)
    }

    func serve(now: MediaTimestamp) {
        guard let (run, asker) = present else { return }
        let lines = run.advance(now: now)
        if !lines.isEmpty { asker.answer(.checkup(lines)) }
        guard let summary = run.summary else { return }
        present = nil
        asker.answer(.checkupEnded(summary))
    }
}

extension DoctorKnowledge {
    init(of device: ApplianceDevice) {
        self.init()
        let (book, summary) = (device.appliance.faultBook, device.supervisor.summary)
        files = device.files
        cardFailures = book.cardFailures
        wirelessProblem = device.network.wirelessFaults.first?.fault.problem
        if device.appliance.state.isLive {
            lastAttempt = .accepted
        } else if let reason = book.refusal {
            lastAttempt = .refused(reason: reason)
        }
        deadEncoder = book.deadEncoder
        usesMicrophones = device.stream.areMicrophonesTaken
        microphoneProblem = summary.lost[.audio]
        findings = Self.lines(device)
        if device.stream.isCameraTaken {
            let open = DeviceList(open: summary.camera, source: summary.cameraSource, of: device.files.device)
            let name = open.devices.first(where: \.isInUse)?.phrase ?? "the camera"
            findings.append(.camera(.inUse(name: name, problem: summary.lost[.video])))
        }
        if let encoder = summary.status?.encoder {
            findings.append(.encoder(EncoderFinding(inUse: encoder.name, deadReason: book.deadEncoder)))
        }
        guard device.appliance.state.isLive, let destination = device.files.stream?.destination else { return }
        findings += [.notChecked(.nameLookup, .live), .server(.live(destination: destination))]
    }

    /// The lines are open, so their state is known.
    private static func lines(_ device: ApplianceDevice) -> [CheckupFinding] {
        let (board, faults) = (device.files.board, device.board.faults)
        func finding(_ key: String, _ name: String?) -> LineFinding {
            LineFinding(key, name: name, faults[key].map { .fails($0) } ?? .works)
        }
        return [
            .button(finding("button", board?.button?.name)),
            .light([finding("statusLED", board?.statusLED?.name), finding("flashLED", board?.flashLED?.name)]),
        ]
    }
}

extension BoardDescription.Light {
    fileprivate var name: String {
        switch self {
        case .line(let line): line.name
        case .led(let name), .subdevice(let name): name
        }
    }
}
