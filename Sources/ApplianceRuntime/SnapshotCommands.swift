import ApplianceLogic
import CardStorage
import CommandChannels
import LinuxIO
import Media
import Settings
import StreamLogic

// Snapshots by button, console and socket.
extension CommandService {
    /// - Parameter quality: `nil` for the one in device.json.
    func takeSnapshot(_ purpose: SnapshotPurpose, quality: Int?, for asker: CommandAsker) -> CommandAnswer? {
        device.personActed()
        guard !device.appliance.isPoweringOff else { return .failed(.poweringOff) }
        guard device.stream.isRunning || !device.appliance.isPaused else { return .failed(.hiddenByPause) }
        guard snapshotCount(in: nil) < PendingSnapshot.limit else { return .failed(.snapshotsWaiting) }
        let now = MonotonicClock.now()
        guard let id = pending.add(.answer, for: asker.seesEvents ? nil : asker, now: now) else { return Self.tooMany }
        let chosen = device.files.device.snapshots
        var request = SnapshotRequest(id, quality: quality ?? chosen.quality)
        request.isClockSet = device.events.isClockSet
        // At least four are kept.
        if purpose == .keep { request.largestByteCount = chosen.megabytes * 1_000_000 / 4 }
        let needsFlash = needsFlash
        if needsFlash == true { light(for: &request) }
        pending.change(
            id, to: .snapshot(PendingSnapshot(request, for: purpose, mayNeedFlash: needsFlash == nil)))
        device.stream.takeSnapshot(request, device.files, now: now)
        return asker.seesEvents ? .done(["asked for"]) : nil
    }

    /// - Parameter stage: `nil` for all.
    private func snapshotCount(in stage: PendingSnapshot.Stage?) -> Int {
        pending.count { purpose in
            guard case .snapshot(let snapshot) = purpose else { return false }
            return stage.map { $0 == snapshot.stage } ?? true
        }
    }

    /// `nil` if only the snapshot itself will show it.
    private var needsFlash: Bool? {
        switch device.files.device.snapshots.flash {
        case .off: false
        case .on: true
        case .auto: device.appliance.isDark
        }
    }

    private func light(for request: inout SnapshotRequest) {
        let actions = device.appliance.flashRequested(true)
        // If the light is already on, there is nothing to wait for.
        request.awaitsExposure = !actions.isEmpty
        device.perform(actions)
    }

    /// - Parameter brightness: the snapshot's, if the camera was opened only for it.
    func snapshotTaken(_ answer: SnapshotAnswer, brightness: Brightness?) {
        let id = answer.request.id
        guard case .snapshot(var snapshot)? = pending[id]?.purpose, snapshot.stage == .taking else { return }
        if snapshot.mayNeedFlash, let brightness, TorchPolicy.isDark(brightness) {
            snapshot.mayNeedFlash = false
            var request = snapshot.request
            light(for: &request)
            pending.change(id, to: .snapshot(snapshot))
            return device.stream.takeSnapshot(request, device.files, now: MonotonicClock.now())
        }
        snapshot.stage = .saving
        pending.change(id, to: .snapshot(snapshot))
        if snapshotCount(in: .taking) == 0 { device.perform(device.appliance.flashRequested(false)) }
        switch (answer, snapshot.purpose) {
        case (.failed(_, let failure), _): if let command = pending.remove(id) { snapshotFailed(command, failure) }
        case (.taken(_, let taken), .send): pending.remove(id)?.asker?.answer(.file(taken.bytes))
        case (.taken(_, let taken), .keep):
            let store = SnapshotStore(device.files.device.snapshots, device.settings)
            device.card.give(.saveSnapshot(id, store, taken), now: MonotonicClock.now())
        }
    }

    /// The card has answered.
    func snapshotSaved(_ id: CommandID, _ result: Result<String, SystemCallError>) {
        guard let command = pending.remove(id) else { return }
        switch result {
        case .success(let path):
            device.tell(.snapshotSaved(path: path))
            command.asker?.answer(.done([path]))
        case .failure(let error): snapshotFailed(command, .file(reason: "\(error)"))
        }
    }

    func snapshotFailed(_ command: PendingCommand, _ failure: SnapshotFailure) {
        let refusal = ApplianceRefusal.snapshot(failure)
        device.tell(text: refusal.description)
        command.asker?.answer(.failed(refusal))
    }
}
