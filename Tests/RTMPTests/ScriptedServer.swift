import Media
import SeededNumbers

@testable import RTMP

/// A publish session and a server's messages to it, one by one.
struct ScriptedServer {
    var session: PublishSession
    var now = MediaTimestamp.zero
    /// Parses the session's messages after its handshake.
    private var reader = ChunkReader()
    private var handshakeBytes = 0

    init(
        _ text: String = "rtmp://bob:hush1@h/live/mykey?token=SECRET",
        edit: (inout PublishConfiguration) -> Void = { _ in }
    )
        throws
    {
        var generator = SeededGenerator(seed: 3)
        var configuration = PublishConfiguration(
            url: try RTMPURL(parsing: text), encoderName: "Tallycam", randomBytes: generator.bytes(1528), metadata: nil)
        edit(&configuration)
        session = PublishSession(configuration: configuration)
    }

    /// The messages sent by the session.
    mutating func messages(_ actions: [PublishSession.Action]) throws -> [Message] {
        let sent = actions.sentBytes
        let handshakePart = min(sent.count, 3073 - handshakeBytes)
        handshakeBytes += handshakePart
        return try reader.messages(in: Array(sent[handshakePart...]))
    }

    mutating func commands(_ actions: [PublishSession.Action]) throws -> [Command] {
        try messages(actions).filter { $0.type == .commandAMF0 }.map { try Command($0) }
    }

    /// A media message as parsed by a server.
    func read(_ message: ChunkedMediaMessage) throws -> [Message] {
        var reader = ChunkReader()
        reader.chunkSize = session.configuration.chunkSize
        return try reader.messages(in: message.wireBytes())
    }

    mutating func chunkedMetadata(at time: MediaTimestamp) throws -> [Message] {
        try session.chunkMetadata(at: time).map { try read($0) } ?? []
    }

    mutating func open() -> [PublishSession.Action] {
        handshakeBytes = 0
        reader = ChunkReader()
        return session.connectionOpened(now: now)
    }

    mutating func startHandshake() -> [PublishSession.Action] {
        say(bytes: [3] + [UInt8](repeating: 0, count: 3072))
    }

    mutating func say(bytes: [UInt8]) -> [PublishSession.Action] { session.bytesReceived(bytes, now: now) }

    mutating func say(_ control: ControlMessage) -> [PublishSession.Action] {
        var stream: [UInt8] = []
        ChunkWriter().append(control, to: &stream)
        return say(bytes: stream)
    }

    mutating func say(_ command: Command, streamID: UInt32 = 0) -> [PublishSession.Action] {
        var stream: [UInt8] = []
        ChunkWriter().append(command, streamID: streamID, to: &stream)
        return say(bytes: stream)
    }

    mutating func status(_ level: String, _ code: String, _ description: String = "") -> [PublishSession.Action] {
        say(Command("onStatus", transactionID: 0, arguments: [Self.information(level, code, description)]), streamID: 1)
    }

    static func information(_ level: String, _ code: String, _ description: String) -> AMF0Value {
        .object([
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string(description)),
        ])
    }

    mutating func acceptConnect() -> [PublishSession.Action] {
        let success = Self.information("status", "NetConnection.Connect.Success", "")
        return say(Command("_result", transactionID: 1, object: .object([]), arguments: [success]))
    }

    mutating func acceptStream(_ number: Double = 1) -> [PublishSession.Action] {
        say(Command("_result", transactionID: 4, arguments: [.number(number)]))
    }

    mutating func acceptPublish() -> [PublishSession.Action] { status("status", "NetStream.Publish.Start") }

    /// Advances to the point where `step` is awaited.
    mutating func goOn(to step: PublishStep) {
        _ = open()
        if step == .handshake { return }
        _ = startHandshake()
        if step == .connect { return }
        _ = acceptConnect()
        if step == .createStream { return }
        _ = acceptStream()
        if step == .publish { return }
        _ = acceptPublish()
    }
}
