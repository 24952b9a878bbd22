import RTMP

/// Inputs of the target `rtmp`: start, number of steps, steps, bytes. See its `Script`.
enum RTMPSeeds {
    private enum Start: UInt8 {
        case publisherHandshake
        case publisherConnecting
        case publisherCreatingStream
        case publisherRequestingPublish
        case publisherPublishing
        case receiverHandshake
        case receiverOpen
        case receiverPublishing
    }

    static let all: [Seed] = sessions + answers + interruptions + media

    private static func seed(_ name: String, _ start: Start, steps: [UInt8] = [], _ bytes: [UInt8]) -> Seed {
        var input = [start.rawValue, UInt8(steps.count)]
        input += steps
        return Seed(name: name, bytes: input + bytes)
    }

    private static let sessions: [Seed] = {
        let conversation = Conversation.wholeSession()
        let (toPublisher, toReceiver) = (conversation.toPublisher, conversation.toReceiver)
        let answers = Array(toPublisher.dropFirst(Conversation.handshakeByteCount))
        let commands = Array(toReceiver.dropFirst(Conversation.handshakeByteCount))
        return [
            seed("publisher-session", .publisherHandshake, toPublisher),
            seed("publisher-session-in-portions", .publisherHandshake, steps: [0x98, 0x06], toPublisher),
            seed("publisher-connecting", .publisherConnecting, steps: [10], answers),
            seed("receiver-session", .receiverHandshake, toReceiver),
            seed("receiver-session-in-portions", .receiverHandshake, steps: [0xA0, 1, 0x40], toReceiver),
            seed("receiver-open", .receiverOpen, steps: [100], commands),
            seed("receiver-open-by-bytes", .receiverOpen, steps: [0], commands),
        ]
    }()

    private static let answers: [Seed] = [
        seed("stream-created", .publisherCreatingStream, chunks(streamCreated)),
        seed("stream-not-created", .publisherCreatingStream, steps: [7], chunks(error("NetConnection.Call.Failed", 4))),
        seed("connect-rejected", .publisherConnecting, steps: [30], chunks(error("NetConnection.Connect.Rejected", 1))),
        seed("invalid-app", .publisherConnecting, chunks(error("NetConnection.Connect.InvalidApp", 1))),
        seed("bad-name", .publisherRequestingPublish, chunks(status("error", "NetStream.Publish.BadName"))),
        seed("denied", .publisherRequestingPublish, steps: [3], chunks(status("error", "NetStream.Publish.Denied"))),
        seed("unpublished", .publisherPublishing, chunks(status("status", "NetStream.Unpublish.Success"))),
        seed("closed", .publisherPublishing, chunks(Command("close", transactionID: 0))),
        seed(
            "password-asked", .publisherConnecting, chunks(question("[ AccessManager.Reject ] : [ authmod=adobe ] :"))),
        seed(
            "password-challenge", .publisherConnecting,
            chunks(question("authmod=adobe :?reason=needauth&user=me&salt=a&challenge=b&opaque=c"))),
        seed("password-llnw", .publisherConnecting, chunks(question("authmod=llnw :?reason=needauth&nonce=d"))),
        seed("password-refused", .publisherConnecting, chunks(question("authmod=adobe :?reason=authfailed"))),
        seed("reconnect-request", .publisherPublishing, steps: [50], chunks(reconnectRequest)),
        seed("control", .publisherPublishing, steps: [4, 20], controls),
        seed("control-to-receiver", .receiverOpen, steps: [1], controls),
    ]

    private static let interruptions: [Seed] = [
        seed("time-passes", .publisherConnecting, steps: [0xF0, 5], chunks(status("status", "x"))),
        seed("stopped", .publisherPublishing, steps: [20, 0xF4, 0xF1], controls),
        seed(
            "opened-again", .publisherPublishing, steps: [0xF2, 0xF3, 0x7F], [3] + Array(repeating: 0, count: 3072)),
        seed("asked-again", .publisherConnecting, steps: [0xA0, 0xF3, 0xB0, 0xB0], askedAgain),
        seed("receiver-closed", .receiverPublishing, steps: [40, 0xF2], Chunks.media),
    ]

    private static let media: [Seed] = [
        seed("header-kinds", .receiverPublishing, Chunks.media),
        seed("header-kinds-by-bytes", .receiverPublishing, steps: [0], Chunks.media),
        seed("extended-timestamps", .receiverPublishing, steps: [13, 2], Chunks.extendedTimestamps),
        seed("interleaved", .receiverPublishing, steps: [60], Chunks.interleaved),
        seed("aggregate", .receiverPublishing, Chunks.aggregate),
        seed("data", .receiverPublishing, Chunks.data),
        seed("long-stream-numbers", .receiverPublishing, steps: [0], Chunks.longStreamNumbers),
    ]

    /// The request for a password, and on the next connection the challenge.
    private static let askedAgain: [UInt8] = {
        let first = chunks(question("authmod=adobe :"))
        // The remainder of the first portion belongs to the first connection.
        let rest = [UInt8](repeating: 0, count: max(0, 33 * 64 - first.count))
        let handshake = [3] + [UInt8](repeating: 0, count: 3072)
        let second = chunks(question("authmod=adobe :?reason=needauth&user=me&salt=a&challenge=b&opaque=c"))
        return [first, rest, handshake, second].flatMap { $0 }
    }()

    private static let controls: [UInt8] = {
        let messages: [ControlMessage] = [
            .setChunkSize(64), .windowAcknowledgementSize(100), .setPeerBandwidth(5000, limitType: 2),
            .acknowledgement(3500), .userControl(.streamBegin(streamID: 1)), .userControl(.pingRequest(timestamp: 77)),
            .userControl(.setBufferLength(streamID: 1, milliseconds: 3000)), .abort(chunkStreamID: 3),
            .setChunkSize(1), .userControl(.pingRequest(timestamp: 78)),
        ]
        return messages.flatMap { Chunks.bytes($0.message, on: 2) }
    }()

    private static let streamCreated = Command("_result", transactionID: 4, arguments: [.number(1)])

    private static func chunks(_ command: Command) -> [UInt8] { Chunks.bytes(command.message(streamID: 1), on: 3) }

    private static func status(_ level: String, _ code: String) -> Command {
        Command("onStatus", transactionID: 0, arguments: [information(level, code)])
    }

    private static func error(_ code: String, _ transactionID: Double) -> Command {
        Command("_error", transactionID: transactionID, arguments: [information("error", code)])
    }

    private static func question(_ text: String) -> Command {
        Command(
            "_error", transactionID: 1,
            arguments: [
                .object([
                    AMF0Property("level", .string("error")),
                    AMF0Property("code", .string("NetConnection.Connect.Rejected")),
                    AMF0Property("description", .string(text)),
                ])
            ])
    }

    private static let reconnectRequest = Command(
        "onStatus", transactionID: 0,
        arguments: [
            .object([
                AMF0Property("level", .string("status")),
                AMF0Property("code", .string("NetConnection.Connect.ReconnectRequest")),
                AMF0Property("tcUrl", .string("rtmp://example.com/app")),
            ])
        ])

    private static func information(_ level: String, _ code: String) -> AMF0Value {
        .object([
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string("door?token=hush-hush-hush is refused")),
        ])
    }
}
