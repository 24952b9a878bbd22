import ApplianceLogic
import CommandChannels
import DeviceStreams
import Diagnosis
import LinuxIO
import Media
import StreamLogic

/// Examinations for people at the console and clients of the socket, one at a time. Used from the main thread.
final class DoctorDuty {
    unowned let device: ApplianceDevice
    /// Stays when it is over: a driver may still keep its threads.
    private var last: (run: DoctorRun, asker: CommandAsker)?

    init(of device: ApplianceDevice) { self.device = device }

    /// - Returns: `nil` if the answer comes later, line by line.
    func start(for asker: CommandAsker, now: MediaTimestamp) -> CommandAnswer? {
        guard last?.run.isAtWork != true else { return .failed(.doctorUnderWay) }
        do throws(SystemCallError) {
            let (known, calls) = (DoctorKnowledge(of: device), device.card.calls)
            let run = try DoctorRun(device.settings, device.stream.engine, knowing: known, card: calls, now: now)
            last = (run, asker)
            return nil
        } catch {
            return .failed(.system(reason: "\(error)"))
        }
    }

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.doctor, last?.run.fileDescriptor ?? -1)
        waits.wake(at: last?.run.nextDeadline)
    }

    func serve(now: MediaTimestamp) {
        guard let (run, asker) = last else { return }
        let lines = run.advance(now: now)
        if !lines.isEmpty { asker.answer(.checkup(lines)) }
        if let summary = run.takeSummary() { asker.answer(.checkupEnded(summary)) }
    }
}

extension DoctorKnowledge {
    init(of device: ApplianceDevice) {
        self.init()
        let (appliance, summary, streams) = (device.appliance, device.supervisor.summary, device.stream)
        files = device.files
        wirelessProblem = device.network.wirelessFaults.first?.fault.problem
        take(
            summary, of: device.files.device, isCameraTaken: streams.isCameraTaken,
            areMicrophonesTaken: streams.areMicrophonesTaken)
        let destination = appliance.state.isLive ? device.files.stream?.destination : nil
        take(appliance.faultBook, live: destination, encoder: summary.status?.encoder)
        take(device.recording.reading, of: device.files.device)
        takeLines(of: device.files.board, faults: device.board.faults.mapValues { "\($0)" })
    }
}
