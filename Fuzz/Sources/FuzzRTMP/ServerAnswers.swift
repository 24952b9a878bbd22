import RTMP

/// A server's messages, step by step, until media may be sent.
enum ServerAnswers {
    static let all = [handshake, connected, streamCreated, publishAccepted]

    private static let handshake = [3] + [UInt8](repeating: 5, count: 2 * 1536)

    private static let connected = chunked(
        Command(
            "_result", transactionID: 1, object: .object([AMF0Property("capabilities", .number(31))]),
            arguments: [status("NetConnection.Connect.Success")]))

    private static let streamCreated = chunked(Command("_result", transactionID: 4, arguments: [.number(1)]))

    private static let publishAccepted = chunked(
        Command("onStatus", transactionID: 0, arguments: [status("NetStream.Publish.Start")]), streamID: 1)

    private static func status(_ code: String) -> AMF0Value {
        .object([AMF0Property("level", .string("status")), AMF0Property("code", .string(code))])
    }

    private static func chunked(_ command: Command, streamID: UInt32 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        ChunkWriter().append(command.message(streamID: streamID), chunkStreamID: 3, to: &bytes)
        return bytes
    }
}
