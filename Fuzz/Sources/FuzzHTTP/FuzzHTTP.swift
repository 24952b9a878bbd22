import FuzzDriver
import HTTP
import Media

@main enum FuzzHTTP {
    static func main() { fuzz(testOneInput) }
}

/// The first byte: an even one starts with HTTP requests, an odd one with WebSocket frames; half of it is the size of the
/// portions that the other bytes arrive in.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: data, count: count)
    guard let first = input.first else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: input[1...])
    let start = ServedConnection(isWebSocket: first & 1 == 1)
    var whole = start
    whole.receive(bytes)
    var divided = start
    let portion = Int(first >> 1) + 1
    for from in stride(from: 0, to: bytes.count, by: portion) {
        divided.receive(UnsafeRawBufferPointer(rebasing: bytes[from..<min(from + portion, bytes.count)]))
    }
    precondition(whole.requests == divided.requests && whole.requestError == divided.requestError, "portions matter")
    precondition(whole.messages == divided.messages && whole.messageError == divided.messageError, "portions matter")
    whole.requests.forEach(check)
    whole.messages.forEach(check)
    return 0
}

/// A server's side of one connection.
private struct ServedConnection {
    private static let limits = HTTPRequestReader.Limits(headByteCount: 1024, headerCount: 16, bodyByteCount: 512)
    static let messageByteCount = 600

    private var requestReader = HTTPRequestReader(limits: limits)
    private var messageReader = WebSocketReader(messageByteCount: messageByteCount)
    private var isWebSocket: Bool
    private(set) var requests: [HTTPRequest] = []
    private(set) var requestError: HTTPRequestError?
    private(set) var messages: [WebSocketMessage] = []
    private(set) var messageError: WebSocketError?

    init(isWebSocket: Bool) { self.isWebSocket = isWebSocket }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        if isWebSocket {
            messageReader.receive(bytes)
        } else {
            requestReader.receive(bytes)
            readRequests()
        }
        if isWebSocket { readMessages() }
        precondition(requestReader.bufferedByteCount <= Self.limits.headByteCount + Self.limits.bodyByteCount)
        precondition(messageReader.bufferedByteCount <= Self.messageByteCount + 14)
    }

    private mutating func readRequests() {
        do throws(HTTPRequestError) {
            while let request = try requestReader.next() {
                requests.append(request)
                precondition(request.body.count <= Self.limits.bodyByteCount, "a body is too long")
                precondition(request.headers.count <= Self.limits.headerCount, "too many headers")
                guard (try? WebSocketHandshake(request) { Array($0.prefix(20)) }) != nil else { continue }
                isWebSocket = true
                return messageReader.receive(requestReader.takeRemainder())
            }
        } catch {
            precondition(requestError == nil || requestError == error, "another error follows")
            precondition((400...505).contains(error.status.rawValue) && !"\(error)".isEmpty)
            requestError = error
        }
    }

    private mutating func readMessages() {
        do throws(WebSocketError) {
            while let message = try messageReader.next() { messages.append(message) }
        } catch {
            precondition(messageError == nil || messageError == error, "another error follows")
            precondition(WebSocketFrame.close(error.closeCode, reason: "\(error)").payload.count > 2)
            messageError = error
        }
    }
}

private func check(_ request: HTTPRequest) {
    let path = request.path
    precondition(path.utf8.first == UInt8(ascii: "/") || path == "*", "a path has no beginning")
    precondition(!path.unicodeScalars.contains(where: \.isControl), "a path has a control character")
    precondition(!request.segments.contains { $0 == ".." || $0 == "." }, "a path leads elsewhere")
    precondition(request.segments.allSatisfy { !$0.utf8.contains(UInt8(ascii: "/")) }, "a segment has a slash")
    precondition(!request.host.name.isEmpty && request.host.port != 0)
    for field in request.headers.fields + request.query {
        precondition(!field.value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" })
    }
    _ = (request.keepsAlive, request.acceptsGzip, request.bearerToken)
    _ = (request.isFromOwnOrigin(.http), request.isFromOwnOrigin(.https))
    let tag = HTTPEntityTag(request.query("tag") ?? "a")
    _ = (request.ifMatch?.matchesStrongly(tag), request.ifNoneMatch?.matchesWeakly(tag))
    for byteCount in [0, 1, 1000, Int.max] {
        guard let range = request.range(of: tag)?.within(byteCount) else { continue }
        precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= byteCount, "beyond the end")
    }
    checkResponse(to: request)
    checkReadBack(request)
}

/// The response repeats what the client has sent, and has the lines that it was given.
private func checkResponse(to request: HTTPRequest) {
    var response = HTTPResponse(.ok, body: .bytes(request.body))
    response.set("X-Path", request.path)
    for field in request.headers.fields + request.query { response.add("X-Value", field.value) }
    for value in request.cookies(named: "key") { response.setCookie("key", value, maxAge: 1, isSecure: false) }
    let head = response.headBytes(for: request.method, keepsAlive: request.keepsAlive)
    let lineCount = response.headers.count + (request.keepsAlive ? 3 : 4)
    precondition(head.count { $0 == 0x0A } == lineCount && head.count { $0 == 0x0D } == lineCount, "split")
    precondition(!head.contains { $0 < 0x20 && $0 != 0x0A && $0 != 0x0D }, "a control character is sent")
}

/// The request in its plainest form is the same request.
private func checkReadBack(_ request: HTTPRequest) {
    var target = request.path == "*" ? "*" : encoded(request.path, keeping: "/")
    for (index, pair) in request.query.enumerated() {
        target += (index == 0 ? "?" : "&") + encoded(pair.name, keeping: "") + "=" + encoded(pair.value, keeping: "")
    }
    var bytes = Array("\(request.method == .other ? "X" : request.method.rawValue) \(target) HTTP/1.".utf8)
    bytes += request.isVersion10 ? "0\r\n".utf8 : "1\r\n".utf8
    for field in request.headers.fields { bytes += "\(field.name):\(field.value)\r\n".utf8 }
    // Encoding makes paths and headers up to three times longer.
    var reader = HTTPRequestReader(limits: .init(headByteCount: 8192))
    reader.receive(bytes + "\r\n".utf8 + request.body)
    precondition((try? reader.next()) == request, "a request is not read back")
    precondition(!reader.isWithinRequest, "bytes are left")
}

private func encoded(_ text: String, keeping kept: String) -> String {
    var result = ""
    for byte in text.utf8 {
        if byte.isASCIILetter || byte.isASCIIDigit || kept.utf8.contains(byte) {
            result.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            result += byte < 16 ? "%0" : "%"
            result += String(byte, radix: 16)
        }
    }
    return result
}

/// A client's frame of the message is read as the same message, and a server's frame has its length.
private func check(_ message: WebSocketMessage) {
    let (opcode, frame): (UInt8, WebSocketFrame) =
        switch message {
        case .text(let text): (0x81, .text(text))
        case .binary(let bytes): (0x82, .binary(bytes))
        case .ping(let bytes): (0x89, .ping(bytes))
        case .pong(let bytes): (0x8A, .pong(bytes))
        case .close(let code, let reason): (0x88, .close(code, reason: reason))
        }
    precondition(frame.header.first == opcode && frame.payload.count <= ServedConnection.messageByteCount)
    let mask: [UInt8] = [1, 2, 3, 0xFF]
    var bytes = [frame.header[0], frame.header[1] | 0x80] + frame.header[2...] + mask
    for (place, byte) in frame.payload.enumerated() { bytes.append(byte ^ mask[place & 3]) }
    var reader = WebSocketReader(messageByteCount: ServedConnection.messageByteCount)
    reader.receive(bytes)
    precondition((try? reader.next()) == message && reader.bufferedByteCount == 0, "a message is not read back")
}
