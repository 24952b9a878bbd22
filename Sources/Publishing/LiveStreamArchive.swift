import Encoding
import LinuxIO
import Media
import StreamLogic

// Archive and viewer get the stream's packets; the archive learns which of them servers have.
extension LiveStream {
    /// Before the archive hears of what a server has, a power cut makes it count as missing.
    private static let deliveryInterval = Duration.seconds(1)

    func openSinks() {
        if let archive = settings.archive {
            hub.add(archive)
            nextDelivery = MonotonicClock.now() + Self.deliveryInterval
        }
        if let viewer = settings.viewer { hub.add(viewer) }
        if settings.startsAtOnce || targets.isEmpty { startMedia() }
    }

    /// Archive and viewer do not wait for a server.
    func startMedia() {
        guard settings.archive != nil || settings.viewer != nil else { return }
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

    func closeSinks() {
        tellArchive()
        for case let sink? in [settings.archive, settings.viewer] as [(any PacketSink)?] {
            hub.remove(sink)
            sink.mediaEnded()
            sink.wake([])
        }
    }
}

extension TargetID {
    /// A single target has no name.
    fileprivate var archiveName: String { name ?? "stream" }
}
