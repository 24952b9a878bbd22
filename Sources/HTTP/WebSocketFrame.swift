enum WebSocketOpcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// A whole, unfragmented frame as a server sends it (RFC 6455 section 5.2): first `header`, then `payload`.
package struct WebSocketFrame: Hashable, Sendable {
    package let header: [UInt8]
    package let payload: [UInt8]

    private init(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        header = Self.header(opcode, byteCount: payload.count)
        self.payload = payload
    }

    package static func text(_ text: String) -> WebSocketFrame { WebSocketFrame(.text, Array(text.utf8)) }

    /// The payload is not copied.
    package static func binary(_ payload: [UInt8]) -> WebSocketFrame { WebSocketFrame(.binary, payload) }

    /// The header of a binary message whose payload the server sends from several places.
    package static func binaryHeader(byteCount: Int) -> [UInt8] { header(.binary, byteCount: byteCount) }

    /// - Parameter payload: at most 125 bytes; the rest is left out.
    package static func ping(_ payload: [UInt8] = []) -> WebSocketFrame {
        WebSocketFrame(.ping, Array(payload.prefix(longestControlPayload)))
    }

    /// - Parameter payload: of the ping that it answers.
    package static func pong(_ payload: [UInt8]) -> WebSocketFrame {
        WebSocketFrame(.pong, Array(payload.prefix(longestControlPayload)))
    }

    /// - Parameters:
    ///   - code: `nil`, or a reserved code, gives an empty frame: the answer to an empty one.
    ///   - reason: at most 123 bytes of UTF-8; the rest is left out.
    package static func close(_ code: WebSocketCloseCode?, reason: String = "") -> WebSocketFrame {
        guard let code, code.isSendable else { return WebSocketFrame(.close, []) }
        var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
        for scalar in reason.unicodeScalars {
            let bytes = UTF8.encode(scalar).map(Array.init) ?? []
            guard payload.count + bytes.count <= longestControlPayload else { break }
            payload += bytes
        }
        return WebSocketFrame(.close, payload)
    }

    static let longestControlPayload = 125

    private static func header(_ opcode: WebSocketOpcode, byteCount: Int) -> [UInt8] {
        let first = 0x80 | opcode.rawValue
        switch byteCount {
        case ..<126: return [first, UInt8(byteCount)]
        case ..<0x1_0000: return [first, 126, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF)]
        default: return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: byteCount >> (56 - 8 * $0)) }
        }
    }
}
