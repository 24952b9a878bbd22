import Glibc
import LinuxIO
import Synchronization

@testable import Transport

/// Relays bytes between one client and a server on 127.0.0.1. Can damage what the client receives.
final class Relay: Sendable {
    let port: UInt16
    private let shared: Shared
    private let stop: EventFD

    private final class Shared: Sendable {
        let damagesBytes = Atomic(false)
        let port = Atomic<UInt16>(0)
    }

    /// - Parameter chunkSize: the most bytes the client receives at once.
    init(to serverPort: UInt16, chunkSize: Int = 65_536) throws {
        let shared = Shared()
        let stop = try EventFD()
        let ready = try EventFD()
        _ = try NamedThread("relay") {
            guard let listener = try? TCPListener(Endpoint(host: "127.0.0.1", port: 0)) else { return }
            shared.port.store(listener.port, ordering: .sequentiallyConsistent)
            ready.signal()
            try? Self.run(listener, serverPort, chunkSize, shared, stop)
        }
        var entries = [PollEntry(ready.fileDescriptor)]
        try poll(&entries, until: nil)
        port = shared.port.load(ordering: .sequentiallyConsistent)
        self.shared = shared
        self.stop = stop
    }

    deinit { stop.signal() }

    /// From now on, corrupts the last byte of each piece for the client.
    func startDamage() { shared.damagesBytes.store(true, ordering: .sequentiallyConsistent) }

    private static func run(
        _ listener: TCPListener, _ serverPort: UInt16, _ chunkSize: Int, _ shared: Shared, _ stop: EventFD
    ) throws {
        let client = try accept(listener)
        let server = try Connector.connect(to: Endpoint(host: "127.0.0.1", port: serverPort))
        var forServer = [UInt8](repeating: 0, count: 65_536)
        var forClient = [UInt8](repeating: 0, count: chunkSize)
        while true {
            var waits: PollSet = [
                "client": client.fileDescriptor, "server": server.fileDescriptor, "stop": stop.fileDescriptor,
            ]
            try waits.wait()
            guard !waits.isReady("stop") else { return }
            let sent = try client.read(into: &forServer)
            let answered = try server.read(into: &forClient)
            if case .bytes(let count) = sent { try send(Array(forServer[..<count]), through: server) }
            if case .bytes(let count) = answered {
                if shared.damagesBytes.load(ordering: .sequentiallyConsistent) { forClient[count - 1] ^= 1 }
                try send(Array(forClient[..<count]), through: client)
            }
            if sent == .closed || answered == .closed { return }
        }
    }
}
