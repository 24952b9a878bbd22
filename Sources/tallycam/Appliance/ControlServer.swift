import LinuxIO

/// The Unix socket: one command line in, one answer out, closed. Used from the main thread.
final class ControlServer {
    private static let longestCommand = 256
    /// More ask at once only by mistake.
    private static let clientLimit = 8

    private final class Client {
        let connection: OwnedFileDescriptor
        var received: [UInt8] = []

        init(_ connection: consuming OwnedFileDescriptor) { self.connection = connection }
    }

    private let listener: LocalListener
    private var clients: [Client] = []

    init(path: String) throws(SystemCallError) { listener = try LocalListener(path: path) }

    var pollEntries: [PollEntry] {
        [PollEntry(listener.fileDescriptor)] + clients.map { PollEntry($0.connection.rawValue) }
    }

    /// Takes connections and what came through them; never waits.
    /// - Parameter answer: to a command; whether it worked, and what to say.
    func serve(_ answer: (String) -> CommandAnswer) {
        while let connection = listener.accept() {
            if clients.count < Self.clientLimit { clients.append(Client(connection)) }
        }
        clients.removeAll { client in serve(client, answer) }
    }

    /// - Returns: whether the client is done with.
    private func serve(_ client: Client, _ answer: (String) -> CommandAnswer) -> Bool {
        var block = [UInt8](repeating: 0, count: Self.longestCommand)
        do {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try client.connection.readIfReady(into: bytes)
            }
            guard let count else { return false }
            client.received += block[..<count]
            guard let end = client.received.firstIndex(of: 0x0A) else {
                return count == 0 || client.received.count >= Self.longestCommand
            }
            let reply = answer(String(decoding: client.received[..<end], as: UTF8.self))
            // An answer fits into the socket's buffer; who does not read it loses it.
            try client.connection.writeAll(Array("\(reply.isGood ? "ok" : "error")\n\(reply.text)".utf8))
        } catch {
            return true
        }
        return true
    }
}

/// What a command has led to, for people.
struct CommandAnswer {
    var isGood = true
    /// Whole lines.
    var text: String

    static func failed(_ text: String) -> CommandAnswer { CommandAnswer(isGood: false, text: "\(text)\n") }
}
