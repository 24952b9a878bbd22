import Bitstream
import LinuxIO
import Media
import RTMP
import Synchronization
import Transport

/// A server for publishers on its own thread. Each connection is a `ReceiveSession`, controlled by the test. Connections are
/// counted from 1.
public final class ScriptedServer: Sendable {
    /// How a connection is answered.
    public enum Answer: Sendable {
        /// It fails.
        case unreachable(TransportError)
        /// It stays unanswered until the publisher gives up.
        case unanswered
        case accept(ReceiveConfiguration = .ofTests)
    }

    /// What was received on a connection.
    public struct Record: Sendable {
        public var application = ""
        public var streamName = ""
        public var metadata: [AMF0Property] = []
        /// Audio and video, including headers.
        public var tags: [FLVTag] = []
        public var isPublishing = false
        /// Whether the publisher has ended its stream or connection.
        public var hasEnded = false
        public var isClosed = false
        public var isReset = false
        /// When the server noticed the connection's end.
        public var endTime: MediaTimestamp?
        public var receivedByteCount = 0
        /// When the first byte arrived.
        public var startTime: MediaTimestamp?
        public var failure: String?
        /// From the publisher to the server; `nil` if the connection failed.
        public var wire: ScriptedStream.Wire?
    }

    /// An action of the test on a connection.
    public enum Deed: Sendable {
        case close
        case reset
        case stopReading
        case readAgain
        case send([UInt8])
        case reconnectRequest(tcURL: String?)
        case streamError
    }

    fileprivate enum Order: Sendable {
        case accept(Int, ScriptedStream.End, ReceiveConfiguration)
        case perform(Deed, Int)
        case quit
    }

    fileprivate final class Records: Sendable {
        let content = Mutex<[Record]>([])

        func update(_ number: Int, _ body: (inout Record) -> Void) { content.withLock { body(&$0[number - 1]) } }
    }

    private let answer: @Sendable (Int) -> Answer
    private let orders: Mailbox<Order>
    private let records = Records()

    public init(answer: @escaping @Sendable (Int) -> Answer = { _ in .accept() }) throws {
        self.answer = answer
        let orders = try Mailbox<Order>()
        self.orders = orders
        _ = try NamedThread("server") { [records] in ServerLoop(orders: orders, records: records).run() }
    }

    deinit { orders.send(.quit) }

    /// Connects a publisher.
    /// - Parameter cancellation: ends an unanswered attempt.
    public func connect(cancellation: Int32 = -1) throws(TransportError) -> any ByteStream {
        let number = records.content.withLock { records in
            records.append(Record())
            return records.count
        }
        switch answer(number) {
        case .unreachable(let error): throw error
        case .unanswered:
            var entries = [PollEntry(cancellation)]
            _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(20))
            throw .canceled
        case .accept(let configuration):
            do {
                let (client, server) = try ScriptedStream.pair()
                records.update(number) { $0.wire = client.outgoing }
                orders.send(.accept(number, server, configuration))
                return ScriptedStream(client)
            } catch {
                throw .socketFailed(error)
            }
        }
    }

    public func perform(_ deed: Deed, on number: Int) { orders.send(.perform(deed, number)) }

    public var connectionCount: Int { records.content.withLock { $0.count } }

    /// Empty for a connection that does not exist.
    public subscript(number: Int) -> Record {
        records.content.withLock { $0.indices.contains(number - 1) ? $0[number - 1] : Record() }
    }
}

extension ReceiveConfiguration {
    public static let ofTests = ReceiveConfiguration(randomBytes: [UInt8](repeating: 7, count: 1528))

    public static func refusing(connect code: String) -> ReceiveConfiguration {
        var configuration = ofTests
        configuration.connectAnswer = .refuse(code: code, description: "Not today.")
        return configuration
    }

    public static func refusing(publish code: String) -> ReceiveConfiguration {
        var configuration = ofTests
        configuration.publishAnswer = .refuse(code: code, description: "Not today.")
        return configuration
    }
}

/// The server's thread.
private final class ServerLoop {
    private struct Connection {
        let stream: ScriptedStream
        var session: ReceiveSession
        var outgoing: [UInt8] = []
        var reads = true
        var closesWhenWritten = false

        var pollEntry: PollEntry {
            var events: PollEvents = reads ? .readable : []
            if !outgoing.isEmpty { events.insert(.writable) }
            // A closed connection that is not read would be reported forever.
            return PollEntry(events.isEmpty ? -1 : stream.fileDescriptor, events)
        }
    }

    private enum Waited: Equatable {
        case orders
        case connection(Int)
    }

    private let orders: Mailbox<ScriptedServer.Order>
    private let records: ScriptedServer.Records
    private var connections: [Int: Connection] = [:]
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(orders: Mailbox<ScriptedServer.Order>, records: ScriptedServer.Records) {
        self.orders = orders
        self.records = records
    }

    func run() {
        while true {
            let numbers = Array(connections.keys)
            var waits: PollSet<Waited> = [.orders: orders.wakeup.fileDescriptor]
            for (number, connection) in connections { waits.add(.connection(number), [connection.pollEntry]) }
            guard (try? waits.wait()) != nil else { return }
            // Orders of the test apply to bytes that arrive after them.
            for order in orders.takeAll() {
                switch order {
                case .accept(let number, let end, let configuration):
                    connections[number] = Connection(
                        stream: ScriptedStream(end), session: ReceiveSession(configuration: configuration))
                case .perform(let deed, let number): perform(deed, number)
                case .quit: return
                }
            }
            for number in numbers where waits.isReady(.connection(number)) { serve(number) }
        }
    }

    private func serve(_ number: Int) {
        guard let connection = connections[number] else { return }
        do {
            if connection.reads {
                switch try connection.stream.read(into: &buffer) {
                case .wouldBlock: break
                case .closed: return ended(number)
                case .bytes(let count): received(count, number)
                }
            }
            try write(number)
        } catch {
            ended(number, isReset: true)
        }
    }

    private func received(_ count: Int, _ number: Int) {
        records.update(number) { record in
            record.receivedByteCount += count
            record.startTime = record.startTime ?? MonotonicClock.now()
        }
        let actions = buffer.withUnsafeBytes {
            connections[number]?.session.bytesReceived(UnsafeRawBufferPointer(rebasing: $0[..<count])) ?? []
        }
        perform(actions, number)
    }

    private func perform(_ actions: [ReceiveSession.Action], _ number: Int) {
        for action in actions {
            switch action {
            case .send(let bytes): connections[number]?.outgoing += bytes
            case .rejected: break
            case .publishStarted(let application, let streamName):
                records.update(number) { record in
                    record.application = application
                    record.streamName = streamName
                    record.isPublishing = true
                }
            case .metadata(let properties): records.update(number) { $0.metadata = properties }
            case .media(let tag) where tag.kind == .script: break
            case .media(let tag): records.update(number) { $0.tags.append(tag) }
            case .ended:
                records.update(number) { record in
                    record.isPublishing = false
                    record.hasEnded = true
                }
            case .refused: connections[number]?.closesWhenWritten = true
            case .failed(let error): records.update(number) { $0.failure = "\(error)" }
            }
        }
    }

    private func write(_ number: Int) throws {
        guard let connection = connections[number], !connection.outgoing.isEmpty else { return }
        let count = try connection.stream.write(connection.outgoing)
        connections[number]?.outgoing.removeFirst(count)
        if connection.closesWhenWritten, count == connection.outgoing.count { close(number) }
    }

    private func ended(_ number: Int, isReset: Bool = false) {
        perform(connections[number]?.session.connectionClosed() ?? [], number)
        records.update(number) { $0.isReset = isReset }
        close(number)
    }

    private func close(_ number: Int) {
        connections.removeValue(forKey: number)?.stream.close()
        records.update(number) { record in
            record.isClosed = true
            record.endTime = MonotonicClock.now()
        }
    }

    private func perform(_ deed: ScriptedServer.Deed, _ number: Int) {
        guard connections[number] != nil else { return }
        switch deed {
        case .close: close(number)
        case .reset:
            connections[number]?.stream.abort()
            close(number)
        case .stopReading: connections[number]?.reads = false
        case .readAgain: connections[number]?.reads = true
        case .send(let bytes): connections[number]?.outgoing += bytes
        case .reconnectRequest(let tcURL):
            perform(connections[number]?.session.reconnectRequested(tcURL: tcURL) ?? [], number)
        case .streamError:
            let actions = connections[number]?.session.streamErrorRequested(
                code: "NetStream.Failed", description: "The disk is full.")
            perform(actions ?? [], number)
        }
        try? write(number)
    }
}
