import ApplianceLogic
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import CommandChannels

/// More clients than the control socket accepts at once. Each client that gets an answer gets its own, and all of it.
@Suite struct ControlServerTests {
    private static let file = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static let whole = Array("ok\n".utf8) + file
    private static let refusal = Array(refused(.tooManyClients).utf8)

    private let directory: TemporaryDirectory
    private let server: ControlServer
    /// Askers whose answer comes later.
    private let askers = Askers()

    init() throws {
        directory = try TemporaryDirectory()
        server = try ControlServer(path: directory.file("socket"), start: MonotonicClock.now())
    }

    private func client(_ command: String? = nil) throws -> OwnedFileDescriptor {
        let connection = try connectLocal(directory.file("socket"))
        if let command { try connection.writeAll(Array("\(command)\n".utf8)) }
        try connection.setNonBlocking()
        return connection
    }

    /// "send" answers with the file; a number is answered later.
    private func serve() {
        askers.now = askers.now + .milliseconds(1)
        server.serve(now: askers.now) { command, asker in
            guard command != "send" else { return asker.answer(.file(Self.file)) }
            guard let number = Int(command) else { return asker.answer(.failed(unknown(command))) }
            askers.waiting[number] = asker
        }
    }

    /// - Returns: whether an asker was waiting for it.
    private func answer(_ number: Int) -> Bool {
        guard let asker = askers.waiting.removeValue(forKey: number) else { return false }
        asker.answer(.done(["\(number)"]))
        return true
    }

    /// Everything received until the server closes.
    private func received(on connection: borrowing OwnedFileDescriptor) throws -> [UInt8] {
        var received: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        let limit = MonotonicClock.now() + .seconds(60)
        while MonotonicClock.now() < limit {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try connection.readIfReady(into: bytes)
            }
            if count == 0 { return received }
            received += block[..<(count ?? 0)]
            serve()
        }
        Issue.record("nobody closes after \(received.count) bytes")
        return received
    }

    @Test func answerInProgressIsNeverCutOff() throws {
        let reader = try client("send")
        serve()
        var idle: [Client] = []
        for _ in 0..<9 {
            idle.append(Client(connection: try client()))
            serve()
        }
        #expect(try received(on: idle[0].connection) == Self.refusal)
        #expect(try received(on: reader) == Self.whole)
        // The remaining clients are still served.
        try idle[8].connection.writeAll(Array("x\n".utf8))
        serve()
        #expect(try received(on: idle[8].connection) == Array(refused(unknown("x")).utf8))
    }

    /// A short time passes between connecting and asking.
    @Test func answerArrivesPartByPart() throws {
        let reader = try client("1")
        serve()
        let waiting = askers.waiting.removeValue(forKey: 1)
        let asker = try #require(waiting)
        let parts = [CheckupLine(.card, .ok, "good"), CheckupLine(.network, .problem, "down", advice: "plug it in")]
        for (number, part) in parts.enumerated() {
            asker.answer(.checkup([part]))
            serve()
            var block = [UInt8](repeating: 0, count: 4096)
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try reader.readIfReady(into: bytes)
            }
            let head = number == 0 ? "ok\n" : ""
            #expect(String(decoding: block[..<(count ?? 0)], as: UTF8.self) == "\(head)\(part)\n")
        }
        let summary = CheckupSummary(problems: [.network], warnings: [], unchecked: [])
        asker.answer(.checkupEnded(summary))
        asker.answer(.checkup(parts))
        #expect(try String(decoding: received(on: reader), as: UTF8.self) == "\(summary)\n")
    }

    @Test func newClientGetsAMomentToAsk() throws {
        var clients: [Client] = []
        for _ in 0..<9 { clients.append(Client(connection: try client())) }
        let now = MonotonicClock.now()
        func serve(at offset: Duration) { server.serve(now: now + offset) { $1.answer(.failed(unknown($0))) } }
        for offset in [0, 19] { serve(at: .milliseconds(offset)) }
        #expect(server.nextDeadline == now + .milliseconds(20) && server.pollEntries[0].fileDescriptor < 0)
        try clients[0].connection.writeAll(Array("x\n".utf8))
        serve(at: .milliseconds(20))
        #expect(try received(on: clients[0].connection) == Array(refused(unknown("x")).utf8))
    }

    @Test func newClientWaitsWhileAllOthersAreBusy() throws {
        var clients: [Client] = []
        for number in 0..<8 { clients.append(Client(connection: try client("\(number)"))) }
        serve()
        for number in 8..<12 { clients.append(Client(connection: try client("\(number)"))) }
        serve()
        #expect(!answer(8), "it was not heard yet")
        #expect(server.pollEntries.allSatisfy { $0.fileDescriptor < 0 }, "nothing would wake anybody in vain")
        for number in 0..<12 {
            #expect(answer(number))
            serve()
        }
        for (number, client) in clients.enumerated() {
            #expect(try received(on: client.connection) == Array("ok\n\(number)\n".utf8))
        }
    }

    @Test func answeredClientIsRemovedAtOnce() throws {
        var clients: [Client] = []
        for number in 0..<8 { clients.append(Client(connection: try client("\(number)"))) }
        serve()
        for asker in askers.waiting.values { asker.answer(.failed(.streamEnded)) }
        #expect(server.nextDeadline == nil)
        for _ in 0..<8 { clients.append(Client(connection: try client())) }
        serve()
        for client in clients[..<8] {
            #expect(try received(on: client.connection) == Array(refused(.streamEnded).utf8))
        }
        for client in clients[8...] {
            var byte: [UInt8] = [0]
            let count = try byte.withMutableBytes { bytes throws(SystemCallError) in
                try client.connection.readIfReady(into: bytes)
            }
            #expect(count == nil, "no other client was refused")
        }
    }

    // MARK: Followers

    /// "lines" and "json" make the client a follower.
    private func follower(_ form: String) throws -> OwnedFileDescriptor {
        ProcessSettings.ignoreBrokenPipeSignal()
        let connection = try client(form)
        server.serve(now: MonotonicClock.now()) { command, asker in
            asker.answer(.follow(command == "json" ? .json : .text, first: Array("first\n".utf8)))
        }
        return connection
    }

    private func serveAlone() { server.serve(now: MonotonicClock.now()) { $1.answer(.failed(unknown($0))) } }

    /// The data available now.
    private func present(on connection: borrowing OwnedFileDescriptor) throws -> String {
        var received: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try connection.readIfReady(into: bytes)
            }
            guard let count, count > 0 else { return String(decoding: received, as: UTF8.self) }
            received += block[..<count]
        }
    }

    @Test func eachFollowerReceivesEventsInItsForm() throws {
        let lines = try follower("lines")
        let json = try follower("json")
        server.followers.tell(json: Array("{}\n".utf8), line: nil)
        server.followers.tell(json: Array("[]\n".utf8), line: "live")
        #expect(try present(on: lines) == "ok\nfirst\nlive\n")
        #expect(try present(on: json) == "ok\nfirst\n{}\n[]\n")
        // The usual time limits of clients do not apply to followers.
        server.serve(now: MonotonicClock.now() + .seconds(3600)) { $1.answer(.failed(unknown($0))) }
        server.followers.tell(json: [], line: "still here")
        #expect(try present(on: lines) == "still here\n" && server.nextDeadline == nil)
    }

    @Test func closedFollowerIsForgotten() throws {
        // It closes at once.
        _ = try follower("lines")
        #expect(server.pollEntries.count == 2 && server.followers.contains(.text))
        // A child that another test has just started may still have a copy of its end.
        var entries = [server.pollEntries[1]]
        #expect(try poll(&entries, until: MonotonicClock.now() + .patience) == 1)
        serveAlone()
        #expect(server.pollEntries.count == 1 && !server.followers.contains(.text))
    }

    /// `nc -N` and `socat` do this after a script's only command.
    @Test func followerThatStopsSendingIsServedUntilItCloses() throws {
        let server = server
        do {
            let follower = try follower("lines")
            try #require(shutdown(follower.rawValue, Int32(SHUT_WR)) == 0)
            for _ in 0..<3 { serveAlone() }
            // Only its disconnection wakes the server.
            #expect(server.pollEntries.count == 2 && server.pollEntries[1].interest == [])
            var entries = [server.pollEntries[1]]
            #expect(try poll(&entries, until: MonotonicClock.now()) == 0)
            server.followers.tell(json: [], line: "live")
            #expect(try present(on: follower) == "ok\nfirst\nlive\n")
        }
        var entries = [server.pollEntries[1]]
        #expect(try poll(&entries, until: MonotonicClock.now() + .seconds(60)) == 1)
        serveAlone()
        #expect(server.pollEntries.count == 1 && !server.followers.contains(.text))
    }

    @Test(arguments: ["lines", "json"])
    func slowFollowerGetsTheNumberOfDroppedEvents(form: String) throws {
        let slow = try follower(form)
        let line = String(repeating: "x", count: 1023)
        for _ in 0..<2000 { server.followers.tell(json: Array("\(line)\n".utf8), line: line) }
        #expect(server.pollEntries[1].interest.contains(.writable))
        var text = ""
        while true {
            let more = try present(on: slow)
            guard !more.isEmpty else { break }
            text += more
            serveAlone()
        }
        let received = text.split(separator: "\n").dropFirst(2)
        let whole = received.prefix { $0 == line }.count
        #expect(received.count == whole + 1 && whole >= ControlFollowers.capacity / 1024 - 1 && whole < 2000)
        let report = String(received.last ?? "")
        let dropped = 2000 - whole
        #expect(
            form == "lines"
                ? report == ApplianceEvent.eventsDropped(count: dropped).text
                : report.hasSuffix(#""code":0,"name":"eventsDropped","count":\#(dropped)}"#), "\(report)")
        // From then on, it receives everything again.
        server.followers.tell(json: Array("{}\n".utf8), line: "{}")
        #expect(try present(on: slow) == "{}\n")
    }

    @Test func fifthFollowerIsRefusedAndCommandsStillWork() throws {
        var followers: [Client] = []
        for _ in 0..<4 { followers.append(Client(connection: try follower("lines"))) }
        let surplus = try follower("lines")
        #expect(try present(on: surplus) == refused(.tooManyFollowers(limit: 4)))
        let asking = try client("x")
        serveAlone()
        #expect(try present(on: asking) == refused(unknown("x")))
        withExtendedLifetime(followers) {}
    }

    private func unknown(_ command: String) -> ApplianceRefusal {
        .command(.command(.unknown(command, on: .socket)))
    }

    private final class Askers {
        /// A millisecond per turn of the server, so that no client runs out of time on a busy machine.
        var now = MonotonicClock.now()
        var waiting: [Int: CommandAsker] = [:]
    }

    /// Noncopyable values cannot be in an array.
    private final class Client {
        let connection: OwnedFileDescriptor
        init(connection: consuming OwnedFileDescriptor) { self.connection = connection }
    }
}
