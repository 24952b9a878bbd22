import LinuxIO

/// Listens to wpa_supplicant's control interface, once there is one. Used from the main thread.
struct SupplicantMonitor: ~Copyable {
    private static let interface = "wlan0"
    private static let longestMessage = 4096

    private let directory: String
    private var socket: LocalDatagramSocket?

    /// - Parameter directory: wpa_supplicant's, with a socket for each interface.
    init(directory: String) { self.directory = directory }

    var fileDescriptor: Int32 { socket?.fileDescriptor ?? -1 }

    /// Attaches to a wpa_supplicant that has come, and lets go of one that is gone.
    mutating func tick() {
        do {
            if let socket {
                try socket.send(Array("PING".utf8))
            } else {
                let next = try LocalDatagramSocket(
                    path: "/run/tallycam-wifi.sock", peer: "\(directory)/\(Self.interface)")
                try next.send(Array("ATTACH".utf8))
                try next.send(Array("STATUS".utf8))
                socket = next
            }
        } catch {
            // No Wi-Fi is wanted, or it does not run yet.
            socket = nil
        }
    }

    mutating func detach() { socket = nil }

    /// What it has said since the last call.
    mutating func takeMessages() -> [String] {
        var messages: [String] = []
        do {
            while let message = try socket?.receive(limit: Self.longestMessage) {
                messages.append(String(decoding: message, as: UTF8.self))
            }
        } catch {
            socket = nil
        }
        return messages
    }
}
