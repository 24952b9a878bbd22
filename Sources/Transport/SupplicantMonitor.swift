import Glibc
import LinuxIO

/// Listens to wpa_supplicant's control interface when it exists. Used from one thread.
public struct SupplicantMonitor: ~Copyable {
    fileprivate static let interface = "wlan0"
    fileprivate static let longestMessage = 4096
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

/// A connection of its own to wpa_supplicant's control interface, for one exchange. Never waits. Used from one thread.
public final class SupplicantConnection {
    private let socket: LocalDatagramSocket

    /// - Parameters:
    ///   - directory: see `SupplicantMonitor`.
    ///   - path: path of the socket that receives the answers.
    /// - Throws: if wpa_supplicant does not run.
    public init(directory: String, path: String) throws(SystemCallError) {
        socket = try LocalDatagramSocket(path: path, peer: "\(directory)/\(SupplicantMonitor.interface)")
    }

    public var fileDescriptor: Int32 { socket.fileDescriptor }

    public func send(_ request: String) throws(SystemCallError) { try socket.send(Array(request.utf8)) }

    /// The next message; `nil` without one.
    public func receive() throws(SystemCallError) -> [UInt8]? {
        try socket.receive(limit: SupplicantMonitor.longestMessage)
    }
}
