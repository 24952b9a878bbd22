import ApplianceLogic
import CardStorage
import CommandChannels
import LinuxIO
import Media
import Transport

/// Searches for Wi-Fi networks, one search at a time for all who ask meanwhile. Used from the main thread.
final class WirelessSearchDuty {
    private static let askerLimit = 8
    /// Messages for each turn: an event may come for each access point.
    private static let mostMessages = 64

    private let directory: String
    private let path: String
    private var running: (search: WirelessSearch, connection: SupplicantConnection)?
    private var askers: [CommandAsker] = []

    init(_ settings: ApplianceSettings) {
        directory = settings.supplicantDirectory
        path = "\(settings.networkDirectory)/wifi-search"
    }

    /// - Returns: `nil` if the answer comes later.
    func start(for asker: CommandAsker, now: MediaTimestamp) -> CommandAnswer? {
        guard askers.count < Self.askerLimit else { return CommandService.tooMany }
        if running == nil {
            do throws(SystemCallError) {
                let connection = try SupplicantConnection(directory: directory, path: path)
                for request in WirelessSearch.requests { try connection.send(request) }
                running = (WirelessSearch(now: now), connection)
            } catch {
                let reason =
                    "wpa_supplicant does not run; it does if the board has Wi-Fi and network.json names a network"
                return .failed(.wirelessSearch(reason: reason))
            }
        }
        askers.append(asker)
        return nil
    }

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.search, running?.connection.fileDescriptor ?? -1)
        waits.wake(at: running?.search.deadline)
    }

    func serve(now: MediaTimestamp) {
        guard let connection = running?.connection else { return }
        do throws(SystemCallError) {
            for _ in 0..<Self.mostMessages {
                guard running != nil, let message = try connection.receive() else { break }
                try perform(running?.search.received(message))
            }
            try perform(running?.search.timeReached(now: now))
        } catch {
            answer(.failed(.wirelessSearch(reason: "wpa_supplicant has ended")))
        }
    }

    private func perform(_ action: WirelessSearch.Action?) throws(SystemCallError) {
        switch action {
        case .send(let request)?: try running?.connection.send(request)
        case .found(let networks)?: answer(.networks(networks))
        case .failed(let reason)?: answer(.failed(.wirelessSearch(reason: reason)))
        case nil: break
        }
    }

    private func answer(_ answer: CommandAnswer) {
        let askers = askers
        (running, self.askers) = (nil, [])
        for asker in askers { asker.answer(answer) }
    }
}
