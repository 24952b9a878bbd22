import Testing

@testable import HTTP

/// The requests in the bytes of a connection, and the error that ends them.
struct ReadRequests: Equatable {
    var requests: [HTTPRequest] = []
    var error: HTTPRequestError?
}

/// The messages in the bytes of a WebSocket, and the error that ends them.
struct ReadMessages: Equatable {
    var messages: [WebSocketMessage] = []
    var error: WebSocketError?
}

private func requests(in portions: [ArraySlice<UInt8>], limits: HTTPRequestReader.Limits) -> ReadRequests {
    var reader = HTTPRequestReader(limits: limits)
    var result = ReadRequests()
    for portion in portions {
        portion.withUnsafeBytes { reader.receive($0) }
        do {
            while let request = try reader.next() { result.requests.append(request) }
        } catch {
            result.error = error
        }
    }
    return result
}

private func messages(in portions: [ArraySlice<UInt8>], limit: Int) -> ReadMessages {
    var reader = WebSocketReader(messageByteCount: limit)
    var result = ReadMessages()
    for portion in portions {
        portion.withUnsafeBytes { reader.receive($0) }
        do {
            while let message = try reader.next() { result.messages.append(message) }
        } catch {
            result.error = error
        }
    }
    return result
}

/// Reads bytes at once, byte by byte and split at each byte; all results must be equal.
private func readEveryWay<Result: Equatable>(
    _ bytes: [UInt8], _ location: SourceLocation, _ read: ([ArraySlice<UInt8>]) -> Result
) -> Result {
    let whole = read([bytes[...]])
    #expect(read(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte", sourceLocation: location)
    // Long inputs in steps: the time grows with the square of the length.
    for split in stride(from: 1, to: bytes.count, by: bytes.count < 1000 ? 1 : bytes.count / 200) {
        #expect(read([bytes[..<split], bytes[split...]]) == whole, "split at \(split)", sourceLocation: location)
    }
    return whole
}

func readRequests(
    _ bytes: [UInt8], limits: HTTPRequestReader.Limits = .init(), location: SourceLocation = #_sourceLocation
) -> ReadRequests {
    readEveryWay(bytes, location) { requests(in: $0, limits: limits) }
}

/// Lines are ended with CR and LF.
func readRequests(
    _ text: String, limits: HTTPRequestReader.Limits = .init(), location: SourceLocation = #_sourceLocation
) -> ReadRequests {
    readRequests(wire(text), limits: limits, location: location)
}

func readMessages(
    _ bytes: [UInt8], limit: Int = 1000, location: SourceLocation = #_sourceLocation
) -> ReadMessages {
    readEveryWay(bytes, location) { messages(in: $0, limit: limit) }
}

/// The text with CR and LF where it has a line feed.
func wire(_ text: String) -> [UInt8] { text.utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] } }

/// The one request that the text is.
func request(_ text: String, location: SourceLocation = #_sourceLocation) throws -> HTTPRequest {
    let read = readRequests(text, location: location)
    #expect(read.error == nil && read.requests.count == 1, sourceLocation: location)
    return try #require(read.requests.first, sourceLocation: location)
}

/// A request for `/` with more headers, each as a line.
func request(headers: String..., location: SourceLocation = #_sourceLocation) throws -> HTTPRequest {
    let lines = headers.reduce("") { $0 + $1 + "\n" }
    return try request("GET / HTTP/1.1\nHost: tallycam.local\n\(lines)\n", location: location)
}

/// Bytes from hexadecimal digits; spaces are skipped.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// A client's frame, masked with the key of RFC 6455 section 5.7.
func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let length: [UInt8] =
        switch payload.count {
        case ..<126: [0x80 | UInt8(payload.count)]
        case ..<0x1_0000: [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
    let mask = hex("37fa213d")
    return [first] + length + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
}

func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }
