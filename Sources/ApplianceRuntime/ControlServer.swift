import Glibc
import LinuxIO
import Media
import StreamLogic

/// The control socket as it is, or why it is not. Used from the main thread.
final class ControlSocket {
    private let path: String
    private let start: MediaTimestamp
    private var server: ControlServer?
    /// Why no commands can be taken; `nil` when they can.
    private(set) var failure: String?

    /// - Parameter start: the program's, from which the times of events are counted.
    /// - Throws: when another process listens there already.
    init(path: String, start: MediaTimestamp) throws(StreamFailure) {
        self.path = path
        self.start = start
        openIfMissing()
        if isInUse { throw StreamFailure(.system, "tallycam run is already running (socket \(path))") }
    }

    private var isInUse = false

    /// To be called every few seconds: the directory may come later.
    func openIfMissing() {
        guard server == nil else { return }
        do throws(LocalListenerError) {
            server = try ControlServer(path: path, start: start)
            failure = nil
            isInUse = false
        } catch {
            failure = "no commands can be taken: \(error)"
            isInUse = error.isInUse
        }
    }

    var pollEntries: [PollEntry] { server?.pollEntries ?? [] }
    var nextDeadline: MediaTimestamp? { server?.nextDeadline }

    func serve(now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) { server?.serve(now: now, take) }

    func hasFollowers(of form: ReaderForm) -> Bool { server?.followers.contains(form) ?? false }

    /// As `ControlFollowers.tell`.
    func tellFollowers(json: [UInt8], line: String?) { server?.followers.tell(json: json, line: line) }
}

/// The Unix socket: one command line in, one answer out, closed. It keeps connections and how long each may take to write its command
/// and to read its answer. Used from the main thread.
final class ControlServer {
    private static let longestCommand = 4096
    /// More ask at once only by mistake. Of those who have not asked yet the oldest one goes; while there is none, the
    /// others wait in the kernel's queue.
    private static let clientLimit = 8
    /// Who has just come is about to ask, and is not the one to go.
    private static let grace = Duration.milliseconds(20)
    /// A client has its whole line ready when it connects.
    private static let patience = Duration.seconds(2)
    /// Who takes nothing of an answer for so long loses it.
    private static let readerPatience = Duration.seconds(5)

    final class Client {
        let connection: OwnedFileDescriptor
        let arrival: MediaTimestamp
        /// `nil` while it waits for its answer.
        var deadline: MediaTimestamp?
        var received: [UInt8] = []
        /// Its command was taken.
        var isWaiting = false
        /// Once it is known; so much of it was sent.
        var answer: [UInt8]?
        var sentCount = 0
        var isDone = false
        /// Nothing of it is under way yet.
        var isIdle: Bool { !isWaiting && answer == nil }

        init(_ connection: consuming OwnedFileDescriptor, arrival: MediaTimestamp) {
            self.connection = connection
            self.arrival = arrival
            deadline = arrival + ControlServer.patience
        }
    }

    private let listener: LocalListener
    private var clients: [Client] = []
    /// They are no clients any more: an event is not an answer, and waiting is what they do.
    var followers: ControlFollowers
    /// When `serve` was called last.
    private var lastTime = MediaTimestamp.zero

    init(path: String, start: MediaTimestamp) throws(LocalListenerError) {
        followers = ControlFollowers(start: start)
        listener = try LocalListener(path: path)
    }

    var pollEntries: [PollEntry] {
        // What is not taken would stay readable.
        [PollEntry(hasRoom ? listener.fileDescriptor : -1)]
            + clients.filter { !$0.isWaiting }.map { client in
                PollEntry(client.connection.rawValue, client.answer == nil ? .readable : .writable)
            } + followers.pollEntries
    }

    /// When a client has written or read nothing for too long, or may have to go for another.
    var nextDeadline: MediaTimestamp? {
        let arrivals = hasRoom ? [] : clients.filter(\.isIdle).map { $0.arrival + Self.grace }
        return (clients.compactMap(\.deadline) + arrivals).min()
    }

    /// Takes connections and what came through them; never waits.
    /// - Parameter take: gets each command and who asks.
    func serve(now: MediaTimestamp, _ take: (String, CommandAsker) -> Void) {
        lastTime = now
        followers.serve()
        // A command may lead to answers for others who wait.
        let present = clients
        for client in present where !client.isDone { serve(client, now: now, take) }
        dropDone()
        // Those who wait to be taken may be as many as those who were: all of them get their turn.
        for _ in 0..<Self.clientLimit {
            guard hasRoom, let connection = listener.accept() else { break }
            makeRoom(now: now)
            let client = Client(connection, arrival: now)
            clients.append(client)
            serve(client, now: now, take)
            dropDone()
        }
    }

    /// Also in the place of one who should have asked by now.
    private var hasRoom: Bool { clients.count < Self.clientLimit || clients.contains(where: mayGo) }

    private func mayGo(_ client: Client) -> Bool { client.isIdle && client.arrival + Self.grace <= lastTime }

    private func makeRoom(now: MediaTimestamp) {
        guard clients.count >= Self.clientLimit, let index = clients.firstIndex(where: mayGo) else { return }
        send(.failed("too many clients wait: the oldest one goes"), to: clients.remove(at: index), now: now)
    }

    private func dropDone() { clients.removeAll(where: \.isDone) }

    /// A client as an asker. It is answered once; an answer to a client that is gone is dropped.
    private func asker(_ client: Client) -> CommandAsker {
        CommandAsker(on: .socket) { [weak self, weak client] answer, form in
            guard let self, let client, client.isWaiting else { return }
            client.isWaiting = false
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
                return send(.failed("a command has at most \(Self.longestCommand - 1) bytes"), to: client, now: now)
            }
            guard let command = String(validating: client.received[..<end], as: UTF8.self) else {
                return send(.failed("a command is text in UTF-8, and this one is not"), to: client, now: now)
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
            let reason = "\(ControlFollowers.limit) clients follow the events already; end one of them"
            return send(.failed(reason), to: client, now: MonotonicClock.now())
        }
        client.isDone = true
        followers.add(client, form, first: Self.good + first)
    }

    private static let good = Array("ok\n".utf8)

    private func send(_ answer: CommandAnswer, as form: ReaderForm = .text, to client: Client, now: MediaTimestamp) {
        client.answer = (answer.isGood ? Self.good : Array("error\n".utf8)) + answer.content(as: form)
        client.deadline = now + Self.readerPatience
        sendRest(to: client, now: now)
    }

    /// As much as the socket's buffer takes now.
    private func sendRest(to client: Client, now: MediaTimestamp) {
        guard let answer = client.answer else { return }
        do throws(SystemCallError) {
            client.sentCount += try answer.withBytes { bytes throws(SystemCallError) in
                try client.connection.write(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(client.sentCount)))
            }
            client.deadline = now + Self.readerPatience
            client.isDone = client.sentCount >= answer.count
        } catch {
            client.isDone = error.number != EAGAIN
        }
    }
}
