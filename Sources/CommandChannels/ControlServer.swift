import Glibc
import LinuxIO
import Media
import StreamLogic

/// The control socket, or the reason why it is missing. Used from the main thread.
package final class ControlSocket {
    private let path: String
    private let start: MediaTimestamp
    private var server: ControlServer?
    /// Why no commands can be accepted; `nil` if they can.
    package private(set) var failure: String?

    /// - Parameter start: the program's start, from which event times are counted.
    /// - Throws: if another process is already listening there.
    package init(path: String, start: MediaTimestamp) throws(StreamFailure) {
        self.path = path
        self.start = start
        openIfMissing()
        if isInUse { throw StreamFailure(.system, "tallycam run is already running (socket \(path))") }
    }

    private var isInUse = false

    /// Call it every few seconds: the directory may appear later.
    package func openIfMissing() {
        guard server == nil else { return }
        do throws(LocalListenerError) {
            server = try ControlServer(path: path, start: start)
            failure = nil
            isInUse = false
        } catch {
            failure = "no commands can be received: \(error)"
            isInUse = error.isInUse
        }
    }

    package var pollEntries: [PollEntry] { server?.pollEntries ?? [] }
    package var nextDeadline: MediaTimestamp? { server?.nextDeadline }

    package func serve(now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) { server?.serve(now: now, take) }

    package func hasFollowers(of form: ReaderForm) -> Bool { server?.followers.contains(form) ?? false }

    /// See `ControlFollowers.tell`.
    package func tellFollowers(json: [UInt8], line: String?) { server?.followers.tell(json: json, line: line) }
}

/// The Unix socket: one command line in, one answer out, closed. Holds the connections and limits how long each may take to
/// send its command and read its answer. Used from the main thread.
package final class ControlServer {
    private static let longestCommand = 4096
    /// More clients ask at once only by mistake. The oldest client that has not asked yet is removed; if there is none, further
    /// clients wait in the kernel's queue.
    private static let clientLimit = 8
    /// A client that has just connected is about to ask and is not removed.
    private static let grace = Duration.milliseconds(20)
    /// A client has its whole line ready when it connects.
    private static let patience = Duration.seconds(2)
    /// A client that stops reading for this long is disconnected.
    private static let readerPatience = Duration.seconds(5)

    package final class Client {
        let connection: OwnedFileDescriptor
        let arrival: MediaTimestamp
        /// `nil` while it waits for its answer.
        var deadline: MediaTimestamp?
        var received: [UInt8] = []
        /// Whether its command was accepted.
        var isWaiting = false
        /// The answer once it is known, and how much of it was sent.
        var answer: [UInt8]?
        var sentCount = 0
        var isDone = false
        /// Whether part of its answer is not sent yet.
        var hasUnsent: Bool { answer.map { sentCount < $0.count } ?? false }
        /// Whether it has not sent a command yet.
        var isIdle: Bool { !isWaiting && answer == nil }

        init(_ connection: consuming OwnedFileDescriptor, arrival: MediaTimestamp) {
            self.connection = connection
            self.arrival = arrival
            deadline = arrival + ControlServer.patience
        }
    }

    private let listener: LocalListener
    private var clients: [Client] = []
    /// Followers are no longer clients: an event is not an answer, and they wait on purpose.
    package var followers: ControlFollowers
    /// When `serve` was last called.
    private var lastTime = MediaTimestamp.zero

    package init(path: String, start: MediaTimestamp) throws(LocalListenerError) {
        followers = ControlFollowers(start: start)
        listener = try LocalListener(path: path)
    }

    package var pollEntries: [PollEntry] {
        // Connections that are not accepted would stay readable.
        [PollEntry(hasRoom ? listener.fileDescriptor : -1)]
            + clients.filter { !$0.isWaiting || $0.hasUnsent }.map { client in
                PollEntry(client.connection.rawValue, client.answer == nil ? .readable : .writable)
            } + followers.pollEntries
    }

    /// When a client has been idle for too long, or may have to make room for another.
    package var nextDeadline: MediaTimestamp? {
        let arrivals = hasRoom ? [] : clients.filter(\.isIdle).map { $0.arrival + Self.grace }
        return (clients.compactMap(\.deadline) + arrivals).min()
    }

    /// Accepts connections and handles their input. Never blocks.
    /// - Parameter take: receives each command with its asker.
    package func serve(now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) {
        lastTime = now
        followers.serve()
        // A command may cause answers for other waiting clients.
        let present = clients
        for client in present where !client.isDone { serve(client, now: now, take) }
        dropDone()
        // As many connections may be waiting as there were clients; all of them get their turn.
        for _ in 0..<Self.clientLimit {
            guard hasRoom, let connection = listener.accept() else { break }
            makeRoom(now: now)
            let client = Client(connection, arrival: now)
            clients.append(client)
            serve(client, now: now, take)
            dropDone()
        }
    }

    /// Whether another client fits, possibly by replacing one that should have asked by now.
    private var hasRoom: Bool { clients.count < Self.clientLimit || clients.contains(where: mayGo) }

    private func mayGo(_ client: Client) -> Bool { client.isIdle && client.arrival + Self.grace <= lastTime }

    private func makeRoom(now: MediaTimestamp) {
        guard clients.count >= Self.clientLimit, let index = clients.firstIndex(where: mayGo) else { return }
        send(.failed(.tooManyClients), to: clients.remove(at: index), now: now)
    }

    private func dropDone() { clients.removeAll(where: \.isDone) }

    /// A client as an asker. An answer to a client that is gone is dropped, and so is one after a complete answer.
    private func asker(_ client: Client) -> CommandAsker {
        CommandAsker(on: .socket) { [weak self, weak client] answer, form in
            guard let self, let client, client.isWaiting else { return }
            client.isWaiting = !answer.isComplete
            if case .follow(let form, let first) = answer {
                follow(client, form, first: first)
            } else {
                send(answer, as: form, to: client, now: MonotonicClock.now())
            }
            dropDone()
        }
    }

    private func serve(_ client: Client, now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) {
        if client.answer != nil {
            sendRest(to: client, now: now)
        } else if !client.isWaiting {
            hear(client, now: now, take)
        }
        if let deadline = client.deadline, deadline <= now { client.isDone = true }
    }

    private func hear(_ client: Client, now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) {
        var block = [UInt8](repeating: 0, count: Self.longestCommand)
        do {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try client.connection.readIfReady(into: bytes)
            }
            guard let count else { return }
            client.received += block[..<count]
            guard let end = client.received.firstIndex(of: 0x0A) else {
                client.isDone = count == 0
                guard client.received.count >= Self.longestCommand else { return }
                return send(.failed(.commandTooLong(limit: Self.longestCommand - 1)), to: client, now: now)
            }
            guard let command = String(validating: client.received[..<end], as: UTF8.self) else {
                return send(.failed(.notUTF8), to: client, now: now)
            }
            client.isWaiting = true
            client.deadline = nil
            take(command, asker(client))
        } catch {
            client.isDone = true
        }
    }

    private func follow(_ client: Client, _ form: ReaderForm, first: [UInt8]) {
        guard followers.hasRoom else {
            let answer = CommandAnswer.failed(.tooManyFollowers(limit: ControlFollowers.limit))
            return send(answer, as: form, to: client, now: MonotonicClock.now())
        }
        client.isDone = true
        followers.add(client, form, first: Self.good + first)
    }

    private static let good = Array("ok\n".utf8)

    private func send(_ answer: CommandAnswer, as form: ReaderForm = .text, to client: Client, now: MediaTimestamp) {
        let start = client.answer ?? (answer.isGood ? Self.good : Array("error\n".utf8))
        client.answer = start + answer.content(as: form)
        client.deadline = now + Self.readerPatience
        sendRest(to: client, now: now)
    }

    /// Sends as much as the socket's buffer accepts now.
    private func sendRest(to client: Client, now: MediaTimestamp) {
        guard let answer = client.answer, client.hasUnsent else { return }
        do throws(SystemCallError) {
            client.sentCount += try answer.withBytes { bytes throws(SystemCallError) in
                try client.connection.write(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(client.sentCount)))
            }
            client.deadline = client.hasUnsent || !client.isWaiting ? now + Self.readerPatience : nil
            client.isDone = !client.hasUnsent && !client.isWaiting
        } catch {
            client.isDone = error.number != EAGAIN
        }
    }
}
