import ApplianceLogic
import LinuxIO
import Media
import Settings
import StreamLogic

/// Snapshots that somebody has asked for, on their way from the camera to the card or to whoever waits.
struct SnapshotDuty {
    /// More at once are a mistake.
    static let limit = 4

    enum Purpose: Hashable {
        /// It goes to the folder.
        case keep
        /// Whoever asked gets the file.
        case send
    }

    struct Wish {
        let request: SnapshotRequest
        let purpose: Purpose
        /// Nobody knew how bright it was.
        var mayNeedFlash: Bool
    }

    var waiting: [CommandID: Wish] = [:]
    /// On their way to the card, which may take its time.
    var saving: Set<CommandID> = []

    var isFull: Bool { waiting.count + saving.count >= Self.limit }
}

// The appliance's snapshots: by button, console and socket.
extension ApplianceRunner {
    func snapshot(_ purpose: SnapshotDuty.Purpose, _ quality: String?, for asker: CommandAsker) -> CommandAnswer {
        personActed()
        return takeSnapshot(purpose, quality: quality.flatMap { Int($0) }, for: asker)
    }

    /// - Parameter quality: `nil` for the one of device.json.
    func takeSnapshot(_ purpose: SnapshotDuty.Purpose, quality: Int?, for asker: CommandAsker) -> CommandAnswer {
        guard !appliance.isPoweringOff else { return .failed("the camera is powering off") }
        // A snapshot of its own would show the camera that a pause hides.
        guard stream.isRunning || !appliance.isPaused else {
            return .failed("the stream is paused and does not run just now: no frame may be shown")
        }
        guard !snapshots.isFull else { return .failed("others wait for one already") }
        let id = nextCommand()
        var request = SnapshotRequest(id, quality: quality ?? files.device.snapshots.quality)
        request.isClockSet = events.isClockSet
        // At the least four are kept.
        if purpose == .keep { request.largestByteCount = files.device.snapshots.megabytes * 1_000_000 / 4 }
        let needsFlash = needsFlash
        if needsFlash == true { light(for: &request) }
        snapshots.waiting[id] = SnapshotDuty.Wish(
            request: request, purpose: purpose, mayNeedFlash: needsFlash == nil)
        stream.takeSnapshot(request, files, now: MonotonicClock.now())
        return asker == .socket ? .later(id) : CommandAnswer(text: "asked for\n")
    }

    /// `nil` when only the snapshot will show it.
    private var needsFlash: Bool? {
        switch files.device.snapshots.flash {
        case .off: false
        case .on: true
        case .auto: appliance.isDark
        }
    }

    private func light(for request: inout SnapshotRequest) {
        let actions = appliance.flashRequested(true)
        // One that is lit already has nothing to settle for.
        request.awaitsExposure = !actions.isEmpty
        perform(actions)
    }

    /// - Parameter brightness: of the snapshot, where the camera was open for it alone.
    func snapshotAnswered(_ answer: SnapshotAnswer, brightness: Brightness?) {
        guard var wish = snapshots.waiting.removeValue(forKey: answer.request.id) else { return }
        if wish.mayNeedFlash, let brightness, TorchPolicy.isDark(brightness) {
            wish.mayNeedFlash = false
            var request = wish.request
            light(for: &request)
            snapshots.waiting[request.id] = wish
            return stream.takeSnapshot(request, files, now: MonotonicClock.now())
        }
        if snapshots.waiting.isEmpty { perform(appliance.flashRequested(false)) }
        switch (answer, wish.purpose) {
        case (.failed(_, let reason), _): snapshotFailed(answer.request.id, reason)
        case (.taken(_, let snapshot), .send):
            _ = control.answer(answer.request.id, CommandAnswer(bytes: snapshot.bytes))
        case (.taken(_, let snapshot), .keep):
            snapshots.saving.insert(answer.request.id)
            let store = SnapshotStore(files.device.snapshots, settings)
            card.give(.saveSnapshot(answer.request.id, store, snapshot), now: MonotonicClock.now())
        }
    }

    /// The card has answered.
    func snapshotSaved(_ id: CommandID, _ result: Result<String, SystemCallError>) {
        snapshots.saving.remove(id)
        switch result {
        case .success(let path):
            tell("snapshot in \(path)")
            _ = control.answer(id, CommandAnswer(text: "\(path)\n"))
        case .failure(let error): snapshotFailed(id, "\(error)")
        }
    }

    private func snapshotFailed(_ id: CommandID, _ reason: String) {
        tell("no snapshot: \(reason)")
        _ = control.answer(id, .failed("no snapshot: \(reason)"))
    }

    /// What the stream that has ended was asked for.
    func snapshotsLost() {
        for id in snapshots.waiting.keys.sorted(by: { $0.number < $1.number }) {
            snapshots.waiting[id] = nil
            snapshotFailed(id, "the stream has ended")
        }
        perform(appliance.flashRequested(false))
    }
}

extension SnapshotStore {
    fileprivate init(_ chosen: DeviceDescription.Snapshots, _ settings: ApplianceSettings) {
        directory = chosen.folder ?? "\(settings.stateDirectory)/snapshots"
        limits = SnapshotFolder.Limits(count: chosen.count, byteCount: chosen.megabytes * 1_000_000)
        bootDirectory = settings.bootDirectory
    }
}
