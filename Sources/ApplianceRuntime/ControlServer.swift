import LinuxIO
import Media
import StreamLogic

/// The control socket as it is, or why it is not. Used from the main thread.
final class ControlSocket {
    private let path: String
    private var server: ControlServer?
    /// Why no commands can be taken; `nil` when they can.
    private(set) var failure: String?

    /// - Throws: when another process listens there already.
    init(path: String) throws(StreamFailure) {
        self.path = path
        openIfMissing()
        if isInUse { throw StreamFailure(.system, "tallycam run is already running (socket \(path))") }
    }

    private var isInUse = false

    /// To be called every few seconds: the directory may come later.
    func openIfMissing() {
        guard server == nil else { return }
        do throws(LocalListenerError) {
            server = try ControlServer(path: path)
            failure = nil
            isInUse = false
        } catch {
            failure = "no commands can be taken: \(error)"
            isInUse = error.isInUse
        }
    }

    var pollEntries: [PollEntry] { server?.pollEntries ?? [] }
    var nextDeadline: MediaTimestamp? { server?.nextDeadline }

    func serve(now: MediaTimestamp, _ answer: (String) -> CommandAnswer) { server?.serve(now: now, answer) }

    /// - Returns: whether somebody waited for it here.
    func answer(_ id: CommandID, _ answer: CommandAnswer) -> Bool { server?.answer(id, answer) ?? false }

    /// Nobody else will answer what is still waited for.
    func answerAll(_ answer: CommandAnswer) { server?.answerAll(answer) }
}

/// The Unix socket: one command line in, one answer out, at once or when the stream has it, closed. Used from the main thread.
final class ControlServer {
    private static let longestCommand = 4096
    /// More ask at once only by mistake: the oldest one goes.
    private static let clientLimit = 8
    /// A client has its whole line ready when it connects.
    private static let patience = Duration.seconds(2)
    /// A lens takes seconds to find its place; no stream takes longer to answer.
    private static let answerPatience = Duration.seconds(6)

    private final class Client {
        let connection: OwnedFileDescriptor
        var deadline: MediaTimestamp
        var received: [UInt8] = []
        /// What it waits for the answer of.
        var awaited: CommandID?

        init(_ connection: consuming OwnedFileDescriptor, deadline: MediaTimestamp) {
            self.connection = connection
            self.deadline = deadline
        }
    }

    private let listener: LocalListener
    private var clients: [Client] = []

    init(path: String) throws(LocalListenerError) { listener = try LocalListener(path: path) }

    var pollEntries: [PollEntry] {
        [PollEntry(listener.fileDescriptor)]
            + clients.filter { $0.awaited == nil }.map { PollEntry($0.connection.rawValue) }
    }

    /// When a client has said nothing, or waited, for too long.
    var nextDeadline: MediaTimestamp? { clients.map(\.deadline).min() }

    /// Takes connections and what came through them; never waits.
    /// - Parameter answer: to a command; whether it worked, and what to say.
    func serve(now: MediaTimestamp, _ answer: (String) -> CommandAnswer) {
        // Those who wait to be taken may be as many as those who were: all of them get their turn.
        for _ in 0..<Self.clientLimit {
            guard let connection = listener.accept() else { break }
            if clients.count == Self.clientLimit { clients.removeFirst() }
            clients.append(Client(connection, deadline: now + Self.patience))
        }
        clients.removeAll { client in
            guard client.awaited == nil else { return isOverdue(client, now: now) }
            return serve(client, now: now, answer) || client.deadline <= now
        }
    }

    func answer(_ id: CommandID, _ answer: CommandAnswer) -> Bool {
        guard let index = clients.firstIndex(where: { $0.awaited == id }) else { return false }
        Self.send(answer, to: clients.remove(at: index))
        return true
    }

    func answerAll(_ answer: CommandAnswer) {
        for client in clients where client.awaited != nil { Self.send(answer, to: client) }
        clients.removeAll { $0.awaited != nil }
    }

    private func isOverdue(_ client: Client, now: MediaTimestamp) -> Bool {
        guard client.deadline <= now else { return false }
        Self.send(.failed("the stream does not answer; events tells what came of it"), to: client)
        return true
    }

    /// An answer fits into the socket's buffer; who does not read it loses it.
    private static func send(_ answer: CommandAnswer, to client: Client) {
        try? client.connection.writeAll(Array("\(answer.isGood ? "ok" : "error")\n\(answer.text)".utf8))
    }

    /// - Returns: whether the client is done with.
    private func serve(_ client: Client, now: MediaTimestamp, _ answer: (String) -> CommandAnswer) -> Bool {
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
            client.awaited = reply.awaited
            client.deadline = now + Self.answerPatience
            if reply.awaited != nil { return false }
            Self.send(reply, to: client)
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
    /// The stream answers in its place.
    var awaited: CommandID?

    static func later(_ id: CommandID) -> CommandAnswer { CommandAnswer(text: "", awaited: id) }
    static func failed(_ text: String) -> CommandAnswer { CommandAnswer(isGood: false, text: "\(text)\n") }
}

/// Where a command came from.
enum CommandAsker {
    case console
    /// Waits for the answer alone, and hears of no events.
    case socket
}
