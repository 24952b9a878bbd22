/// A message or a control frame from a client.
package enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary([UInt8])
    /// Answer with a pong of the same bytes.
    case ping([UInt8])
    case pong([UInt8])
    /// Answer with a close frame of the same code, and close the connection. Later bytes are ignored.
    case close(WebSocketCloseCode?, reason: String)
}

/// Reads the frames of a client (RFC 6455 section 5) and puts messages together. Input may be split anywhere; the work per
/// byte is constant. After an error every call throws it again.
package struct WebSocketReader: Sendable {
    private let messageByteCount: Int
    private var input = ByteQueue()
    /// The kind of the message whose fragments are being collected.
    private var unfinished: WebSocketOpcode?
    private var message: [UInt8] = []
    private var isClosed = false
    private var failure: WebSocketError?

    /// - Parameter messageByteCount: the longest message, whatever its fragments.
    package init(messageByteCount: Int = 16_384) { self.messageByteCount = messageByteCount }

    /// Bytes that no frame has used up. A server that leaves messages waiting stops reading when this grows.
    package var bufferedByteCount: Int { input.count }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isClosed else { return }
        input.append(bytes)
    }

    package mutating func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive($0) } }

    /// - Returns: the next message or control frame, or `nil` if it needs more bytes. Call again until then.
    package mutating func next() throws(WebSocketError) -> WebSocketMessage? {
        if let failure { throw failure }
        do throws(WebSocketError) {
            while let header = try FrameHeader(input) {
                try examine(header)
                let end = header.byteCount + header.payloadByteCount
                guard input.count >= end else { return nil }
                let result = try take(header, payload: input[header.byteCount..<end])
                input.removeFirst(end)
                if isClosed { input.removeAll() }
                if let result { return result }
            }
            return nil
        } catch {
            failure = error
            input.removeAll()
            message = []
            throw error
        }
    }

    /// Refuses a frame as soon as its header has come.
    private func examine(_ header: FrameHeader) throws(WebSocketError) {
        guard !header.opcode.isControl else { return }
        if header.opcode == .continuation {
            guard unfinished != nil else { throw .unexpectedContinuation }
        } else {
            guard unfinished == nil else { throw .interruptedMessage }
        }
        guard header.payloadByteCount <= messageByteCount - message.count else {
            throw .messageTooLong(limit: messageByteCount)
        }
    }

    private mutating func take(
        _ header: FrameHeader, payload: ArraySlice<UInt8>
    ) throws(WebSocketError) -> WebSocketMessage? {
        if header.opcode.isControl {
            var bytes: [UInt8] = []
            header.unmask(payload, to: &bytes)
            return try control(header.opcode, bytes)
        }
        header.unmask(payload, to: &message)
        let kind = unfinished ?? header.opcode
        guard header.isFinal else {
            unfinished = kind
            return nil
        }
        unfinished = nil
        let bytes = message
        message = []
        guard kind == .text else { return .binary(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText }
        return .text(text)
    }

    private mutating func control(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8]
    ) throws(WebSocketError) -> WebSocketMessage {
        switch opcode {
        case .ping: return .ping(bytes)
        case .pong: return .pong(bytes)
        default:
            isClosed = true
            guard !bytes.isEmpty else { return .close(nil, reason: "") }
            guard bytes.count >= 2, let reason = String(validating: bytes[2...], as: UTF8.self) else {
                throw .malformedClose
            }
            let code = WebSocketCloseCode(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
            guard code.isSendable else { throw .malformedClose }
            return .close(code, reason: reason)
        }
    }
}

/// The bytes before a frame's payload.
private struct FrameHeader {
    let opcode: WebSocketOpcode
    let isFinal: Bool
    let payloadByteCount: Int
    /// The length of this header.
    let byteCount: Int
    private let mask: [UInt8]

    /// - Returns: `nil` if it is not complete.
    init?(_ input: ByteQueue) throws(WebSocketError) {
        guard input.count >= 2 else { return nil }
        guard input[0] & 0x70 == 0 else { throw .reservedBit }
        guard let opcode = WebSocketOpcode(rawValue: input[0] & 0x0F) else {
            throw .unknownOpcode(input[0] & 0x0F)
        }
        self.opcode = opcode
        isFinal = input[0] & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .fragmentedControlFrame }
        guard input[1] & 0x80 != 0 else { throw .unmaskedFrame }
        let short = Int(input[1] & 0x7F)
        guard short <= WebSocketFrame.longestControlPayload || !opcode.isControl else { throw .controlFrameTooLong }
        let lengthEnd = short == 127 ? 10 : short == 126 ? 4 : 2
        byteCount = lengthEnd + 4
        guard input.count >= byteCount else { return nil }
        if short < 126 {
            payloadByteCount = short
        } else {
            let length = input[2..<lengthEnd].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard length >= (short == 126 ? 126 : 0x1_0000), let count = Int(exactly: length) else {
                throw .malformedLength
            }
            payloadByteCount = count
        }
        mask = Array(input[lengthEnd..<byteCount])
    }

    func unmask(_ payload: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        for (place, byte) in payload.enumerated() { bytes.append(byte ^ mask[place & 3]) }
    }
}
