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
}

// The appliance's snapshots: by button, console and socket.
extension ApplianceRunner {
    func snapshot(
        _ purpose: SnapshotDuty.Purpose, _ quality: String?, for asker: CommandAsker
    ) -> CommandAnswer {
        let number = quality.map { Int($0) ?? 0 }
        if let number, !SnapshotRequest.qualities.contains(number) {
            return .failed("snapshot takes a quality from 1 to 100")
        }
        guard purpose == .keep || asker == .socket else { return .failed("a snapshot cannot be sent to the console") }
        personActed()
        return takeSnapshot(purpose, quality: number, for: asker)
    }

    /// - Parameter word: `nil` to ask whether it is lit.
    func torch(_ word: String?) -> CommandAnswer {
        guard files.board?.flashLED != nil else { return .failed("board.json names no flash LED") }
        guard let word else { return CommandAnswer(text: torchText) }
        let words = DeviceDescription.Torch.allCases.map(\.rawValue)
        guard let torch = DeviceDescription.Torch(rawValue: word) else {
            let meant = NameSuggestion.nearest(to: word, among: words).map { "; did you mean \($0)?" } ?? ""
            return .failed("torch takes \(words.joined(separator: ", "))\(meant)")
        }
        personActed()
        perform(appliance.torchRequested(torch.mode))
        watchBrightness()
        return CommandAnswer(text: torchText)
    }

    private var torchText: String { appliance.isTorchLit ? "lit\n" : "dark\n" }

    /// Looking at frames costs something: only where the torch or a snapshot's flash follow them.
    func watchBrightness() {
        stream.send(.watchBrightness(appliance.torchMode == .automatic || files.device.snapshots.flash == .auto))
    }

    /// - Parameter quality: `nil` for the one of device.json.
    func takeSnapshot(_ purpose: SnapshotDuty.Purpose, quality: Int?, for asker: CommandAsker) -> CommandAnswer {
        guard !appliance.isPoweringOff else { return .failed("the camera is powering off") }
        guard snapshots.waiting.count < SnapshotDuty.limit else { return .failed("others wait for one already") }
        let id = nextCommand()
        var request = SnapshotRequest(id, quality: quality ?? files.device.snapshots.quality)
        request.isClockSet = events.isClockSet
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
            let store = SnapshotStore(files.device.snapshots, settings)
            card.give(.saveSnapshot(answer.request.id, store, snapshot), now: MonotonicClock.now())
        }
    }

    func snapshotFailed(_ id: CommandID, _ reason: String) {
        tell("no snapshot: \(reason)")
        _ = control.answer(id, .failed("no snapshot: \(reason)"))
    }

    func snapshotSaved(_ id: CommandID, path: String) {
        tell("snapshot in \(path)")
        _ = control.answer(id, CommandAnswer(text: "\(path)\n"))
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
