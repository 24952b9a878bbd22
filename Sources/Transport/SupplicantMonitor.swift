import Glibc
import LinuxIO

/// Listens to wpa_supplicant's control interface when it exists. Used from one thread.
public struct SupplicantMonitor: ~Copyable {
    private static let interface = "wlan0"
    private static let longestMessage = 4096
    /// The most messages for one call of `takeMessages`.
    private static let mostMessages = 64

    private let peer: String
    private let path: String
    private var socket: LocalDatagramSocket?

    /// - Parameters:
    ///   - directory: wpa_supplicant's directory, with one socket per interface.
    ///   - path: path of the socket that receives its messages.
    public init(directory: String, path: String) {
        peer = "\(directory)/\(Self.interface)"
        self.path = path
    }

    public var fileDescriptor: Int32 { socket?.fileDescriptor ?? -1 }

    /// Attaches to a wpa_supplicant that has appeared, and detaches from one that is gone.
    /// - Returns: whether it was replaced or has disappeared.
    public mutating func tick() -> Bool {
        do {
            if let socket {
                try socket.send(Array("PING".utf8))
                return false
            }
            guard access(peer, F_OK) == 0 else { return false }
            let next = try LocalDatagramSocket(path: path, peer: peer)
            try next.send(Array("ATTACH".utf8))
            try next.send(Array("STATUS".utf8))
            socket = next
            return true
        } catch {
            // It has ended, or is just starting.
            defer { socket = nil }
            return socket != nil
        }
    }

    /// The messages since the last call, or the first of very many: the descriptor then stays readable.
    public mutating func takeMessages() -> [String] {
        var messages: [String] = []
        do {
            while messages.count < Self.mostMessages, let message = try socket?.receive(limit: Self.longestMessage) {
                messages.append(String(decoding: message, as: UTF8.self))
            }
        } catch {
            socket = nil
        }
        return messages
    }
}
