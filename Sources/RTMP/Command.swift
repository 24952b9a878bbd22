/// A command message: a call, its answer, or a status (RTMP 1.0 section 7.2).
public struct Command: Equatable, Sendable {
    public var name: String
    /// Pairs a call with its `_result` or `_error`; zero if no answer is expected.
    public var transactionID: Double
    /// The command object, or null.
    public var object: AMF0Value
    public var arguments: [AMF0Value]

    public init(_ name: String, transactionID: Double, object: AMF0Value = .null, arguments: [AMF0Value] = []) {
        self.name = name
        self.transactionID = transactionID
        self.object = object
        self.arguments = arguments
    }

    /// Parses the command in a message of type `commandAMF0` or `commandAMF3`.
    ///
    /// Only the name is required. The rest is decoded as far as possible, because some servers append bytes that are
    /// not AMF0.
    public init(_ message: Message) throws(AMF0Error) {
        // An AMF3 command contains AMF0 after a marker byte.
        var decoder = AMF0Decoder(message.payload, from: message.type == .commandAMF3 ? 1 : 0)
        guard let name = try decoder.decodeValue().stringValue else {
            throw .unknownMarker(message.payload.first ?? 0, at: 0)
        }
        let values = decoder.decodeRemaining()
        self.name = name
        transactionID = values.first?.numberValue ?? 0
        object = values.count > 1 ? values[1] : .null
        arguments = Array(values.dropFirst(2))
    }

    public func message(streamID: UInt32 = 0) -> Message {
        var payload: [UInt8] = []
        payload.appendAMF0(.string(name))
        payload.appendAMF0(.number(transactionID))
        payload.appendAMF0(object)
        for argument in arguments { payload.appendAMF0(argument) }
        return Message(type: .commandAMF0, streamID: streamID, payload: payload)
    }
}

extension AMF0Decoder {
    /// All values up to the end, or to the first byte that is not AMF0.
    mutating func decodeRemaining() -> [AMF0Value] {
        var values: [AMF0Value] = []
        while !isAtEnd, let value = try? decodeValue() { values.append(value) }
        return values
    }
}

/// The information object of `onStatus`, `_result` and `_error` (RTMP 1.0 section 7.2.2).
struct StatusInformation {
    let level: String
    let code: String
    let description: String
    /// The target of a reconnect request (Enhanced RTMP v2, "Reconnect Request").
    let tcURL: String?

    /// Uses the first object among the arguments; servers place it differently.
    init(_ command: Command) {
        let information = (command.arguments + [command.object]).first { $0["code"] != nil } ?? .null
        level = information["level"]?.stringValue ?? ""
        code = information["code"]?.stringValue ?? ""
        tcURL = information["tcUrl"]?.stringValue
        description =
            information["description"]?.stringValue
            ?? command.arguments.lazy.compactMap { $0.stringValue ?? $0["description"]?.stringValue }.first ?? ""
    }
}
