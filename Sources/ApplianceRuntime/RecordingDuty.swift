import ApplianceLogic
import CommandChannels
import LinuxIO
import Media
import Recording
import RecordingLogic
import Settings
import StreamLogic

/// Records streams as device.json and people want it, on a thread of its own. Used from the main thread.
final class RecordingDuty {
    unowned let device: ApplianceDevice
    /// Made when device.json first allows recordings. It serves all streams, one after the other.
    private var recorder: Recorder?
    private var wish = RecordingWish()
    private var reports: Mailbox<RecordingEvent>?
    /// The plan that the recorder follows; `nil` while nothing should be recorded.
    private var plan: RecordingPlan?
    /// Whether a stream runs that has servers.
    private var isStreaming = false
    private(set) var reading = RecordingReading()
    /// A call that the disk has not answered for long.
    private var stalledCall: String?
    /// Without it, another disk is used from the next start on.
    private let mounts = try? MountWatch()

    init(of device: ApplianceDevice) { self.device = device }

    /// For the present and the next streams; `nil` if device.json forbids recordings.
    var sink: RecordingSink? { device.files.device.record.when == .off ? nil : recorder?.sink }

    var isWanted: Bool { wish.isWanted(whileStreaming: isStreaming) && recorder != nil }

    /// Whether a stream's media starts for the recording, without waiting for a server.
    var isWantedWithoutServer: Bool { wish.isWanted(whileStreaming: false) && recorder != nil }

    /// Whether a file is still being finished although nothing should be recorded.
    var isFinishing: Bool { plan == nil && reading.state != .off }

    // MARK: Wishes

    func filesChanged() {
        wish.configured(device.files.device.record.when)
        if recorder == nil, device.files.device.record.when != .off { makeRecorder() }
        wishChanged()
    }

    private func makeRecorder() {
        do throws(SystemCallError) {
            let reports = try Mailbox<RecordingEvent>()
            recorder = try Recorder { reports.send($0) }
            self.reports = reports
        } catch {
            device.tell(text: "nothing can be recorded: \(error)")
        }
    }

    /// A stream is about to start, or has ended.
    func streamChanged(isStreaming: Bool) {
        guard isStreaming != self.isStreaming else { return }
        self.isStreaming = isStreaming
        if !isStreaming { wish.streamEnded() }
        wishChanged()
    }

    private func wishChanged() {
        let next = isWanted && !device.appliance.isPoweringOff ? RecordingPlan(device) : nil
        guard next != plan, let recorder else { return }
        plan = next
        guard let next else { return recorder.stop() }
        recorder.start(next)
        // A stream that waits for a server would not bring anything yet.
        if isWantedWithoutServer { device.stream.send(.startMedia) }
    }

    /// - Returns: whether device.json allows it.
    func order(_ isOn: Bool) -> Bool {
        guard wish.ordered(isOn) else { return false }
        wishChanged()
        return true
    }

    func mark(_ text: String) { recorder?.mark(text) }

    /// The answer comes when the disk has written everything.
    /// - Returns: whether there is a recorder.
    func eject() -> Bool {
        guard let recorder else { return false }
        recorder.eject(from: device.settings.mediaDirectory)
        return true
    }

    /// The machine is powering off: finishes the file.
    func powerOffNeared() { wishChanged() }

    /// The program ends.
    func end() { _ = recorder?.end(within: .seconds(2)) }

    // MARK: Events

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.recording, reports?.wakeup.fileDescriptor ?? -1)
        waits.add(.mounts, mounts?.fileDescriptor ?? -1, for: .priority)
    }

    func serve(_ waits: PollSet<ApplianceWait>) {
        if waits.isReady(.mounts) { recorder?.diskChanged() }
        takeReports()
    }

    func takeReports() { for event in reports?.takeAll() ?? [] { happened(event) } }

    /// Call it every few seconds.
    func tick(now: MediaTimestamp) { recorder?.check(now: now) }

    private func happened(_ event: RecordingEvent) {
        switch event {
        case .stateChanged(let state): stateChanged(to: state)
        case .fileStarted(let path):
            reading.file = path
            device.tell(event: .recordingChanged(reading))
        case .fileFinished(let path, let file, let byteCount):
            reading.file = nil
            device.tell(
                event: .recordingFinished(
                    file: path, seconds: (file.end - file.start).inSeconds, byteCount: byteCount))
        case .fileFailed:
            reading.file = nil
            device.tell(text: event.text)
        case .droppingStarted, .droppingEnded:
            reading.isDropping = event == .droppingStarted
            device.tell(text: event.text)
        case .stalled, .stallEnded:
            if case .stalled = event { stalledCall = event.text } else { stalledCall = nil }
            device.tell(text: event.text)
            checked()
        case .ejected, .ejectFailed: ejected(event)
        case .mediaRefused, .repaired, .removedEmpty, .repairFailed, .removedOldest, .diskUnusable:
            device.tell(text: event.text)
        }
    }

    private func stateChanged(to state: RecordingSession.State) {
        reading.state = state
        if state != .recording { reading.file = nil }
        let event = ApplianceEvent.recordingChanged(reading)
        // People hear of the first file.
        device.report(event, line: state == .opening || state == .recording ? nil : event.text)
        device.perform(device.appliance.recordingChanged(isOn: reading.isOn))
        checked()
    }

    private func checked() {
        let text = stalledCall ?? reading.problem
        device.faultsChanged(now: MonotonicClock.now()) { $0.recordingChecked(text) }
    }

    private func ejected(_ event: RecordingEvent) {
        device.tell(text: event.text)
        let isDone = if case .ejected = event { true } else { false }
        device.commands.ejected(isDone ? .done([event.text]) : .failed(.eject(reason: event.text)))
    }
}

extension RecordingPlace {
    /// What device.json says, or the usual places.
    init(_ device: ApplianceDevice) {
        let settings = device.settings
        self =
            device.files.device.record.folder.map(RecordingPlace.folder)
            ?? .automatic(
                media: settings.mediaDirectory, card: RecordingPlace.folder(onDisk: settings.stateDirectory))
    }
}

extension RecordingPlan {
    fileprivate init(_ device: ApplianceDevice) {
        let wanted = device.files.device.record
        self.init(
            in: RecordingPlace(device),
            RecordingSettings(
                length: .seconds(wanted.fileSeconds), minutes: wanted.minutes, share: wanted.diskPercent,
                keepsAll: wanted.keep == .all),
            hasAudio: device.files.device.audioSource != .none)
    }
}
