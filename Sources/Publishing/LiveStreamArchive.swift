import Encoding
import LinuxIO
import Media
import StreamLogic

// The archive gets the stream's packets, and learns which of them servers have.
extension LiveStream {
    /// Before the archive hears of what a server has, a power cut makes it count as missing.
    private static let deliveryInterval = Duration.seconds(1)

    func openArchive() {
        guard let archive = settings.archive else { return }
        hub.add(archive)
        nextDelivery = MonotonicClock.now() + Self.deliveryInterval
        if settings.isRecorded || targets.isEmpty { startMediaForArchive() }
    }

    /// The archive does not wait for a server.
    func startMediaForArchive() {
        guard settings.archive != nil else { return }
        hub.mediaStarted(at: MonotonicClock.now())
        startTracks()
    }

    func tellArchive() {
        guard let archive = settings.archive else { return }
        nextDelivery = MonotonicClock.now() + Self.deliveryInterval
        for target in targets {
            for range in target.buffer.takeDelivered() { archive.acknowledged(by: target.id.archiveName, range) }
        }
    }

    func closeArchive() {
        guard let archive = settings.archive else { return }
        tellArchive()
        hub.remove(archive)
        archive.mediaEnded()
        archive.wake([])
    }
}

extension TargetID {
    /// A single target has no name.
    fileprivate var archiveName: String { name ?? "stream" }
}
