import ApplianceLogic
import CommandChannels
import DeviceStreams
import LinuxIO
import StreamLogic

// Lists of cameras and microphones.
extension CommandService {
    /// A list from the drivers would disturb an open camera. What has it open is known.
    func list(_ kind: DeviceList.Kind, for asker: CommandAsker) -> CommandAnswer? {
        if kind == .cameras, device.stream.isCameraTaken {
            return .devices(DeviceList(open: device.supervisor.summary, of: device.files.device))
        }
        guard let id = pending.add(.answer, for: asker, now: MonotonicClock.now()) else { return Self.tooMany }
        do throws(SystemCallError) {
            if try device.stream.list(kind, for: id) { return nil }
            _ = pending.remove(id)
            return .failed(.listUnderWay)
        } catch {
            _ = pending.remove(id)
            return .failed(.system(reason: "\(error)"))
        }
    }

    /// The thread has its answer.
    func listed(_ id: CommandID, _ kind: DeviceList.Kind, _ list: DeviceList) {
        device.stream.listed(kind)
        guard let asker = pending.remove(id)?.asker else { return }
        var list = list
        if kind == .microphones, device.stream.areMicrophonesTaken, let wanted = device.files.wantedMicrophones {
            list = list.marked(inUse: wanted)
        }
        asker.answer(.devices(list))
    }
}
