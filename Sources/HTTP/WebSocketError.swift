/// Why bytes are not messages that this server takes. Answer with a close frame of `closeCode`, and close the connection.
package enum WebSocketError: Error, Hashable, Sendable {
    case unmaskedFrame
    /// A reserved bit is set without an extension.
    case reservedBit
    case unknownOpcode(UInt8)
    case fragmentedControlFrame
    case controlFrameTooLong
    /// A continuation without a beginning.
    case unexpectedContinuation
    /// A message begins before the last one has ended.
    case interruptedMessage
    /// A length takes more bytes than it needs, or has its highest bit set.
    case malformedLength
    case messageTooLong(limit: Int)
    case invalidText
    /// A close frame has one byte, a reserved code, or a reason that is not UTF-8.
    case malformedClose

    package var closeCode: WebSocketCloseCode {
        switch self {
        case .messageTooLong: .messageTooLong
        case .invalidText: .invalidText
        default: .protocolError
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unmaskedFrame: "a frame is not masked"
        case .reservedBit: "a reserved bit is set"
        case .unknownOpcode(let opcode): "the opcode \(opcode) is unknown"
        case .fragmentedControlFrame: "a control frame is fragmented"
        case .controlFrameTooLong: "a control frame is longer than 125 bytes"
        case .unexpectedContinuation: "a continuation has no beginning"
        case .interruptedMessage: "a message begins before the last one has ended"
        case .malformedLength: "a length is malformed"
        case .messageTooLong(let limit): "a message is longer than \(limit) bytes"
        case .invalidText: "a text is not valid UTF-8"
        case .malformedClose: "a close frame is malformed"
        }
    }
}
