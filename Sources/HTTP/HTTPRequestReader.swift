import Media

/// Reads the requests of one connection (RFC 9112). Input may be split anywhere; the work per byte is constant.
///
/// Anything that two implementations could read differently is refused, so a request cannot hide in another one. After an
/// error every call throws it again.
package struct HTTPRequestReader: Sendable {
    package struct Limits: Sendable {
        /// Request line and headers, with their line ends.
        package var headByteCount: Int
        package var headerCount: Int
        package var bodyByteCount: Int

        package init(headByteCount: Int = 8192, headerCount: Int = 64, bodyByteCount: Int = 65_536) {
            self.headByteCount = headByteCount
            self.headerCount = headerCount
            self.bodyByteCount = bodyByteCount
        }
    }

    private struct RequestLine {
        let method: HTTPMethod
        let target: [UInt8]
        let isVersion10: Bool
    }

    private let limits: Limits
    private var input = ByteQueue()
    /// Bytes of this head that were examined.
    private var examinedByteCount = 0
    private var lineStart = 0
    private var followsCarriageReturn = false
    private var requestLine: RequestLine?
    private var headers = HTTPHeaders()
    private var bodyByteCount = 0
    private var failure: HTTPRequestError?
    /// The request whose headers are complete and whose body is not, without that body. A server that refuses it answers
    /// at once, and closes the connection. Valid after a call of `next` that returned `nil`.
    package private(set) var head: HTTPRequest?
    private var awaitsContinue = false

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Bytes that no request has used up. A server that leaves requests waiting stops reading when this grows.
    package var bufferedByteCount: Int { input.count }

    /// Whether a request has begun, so that a connection that closes or idles now has broken off.
    package var isWithinRequest: Bool { head != nil || input.count > 0 }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        input.append(bytes)
    }

    package mutating func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive($0) } }

    /// - Returns: the next complete request, or `nil` if it needs more bytes. Call again until then: clients may send several.
    package mutating func next() throws(HTTPRequestError) -> HTTPRequest? {
        if let failure { throw failure }
        do throws(HTTPRequestError) {
            try readHead()
        } catch {
            failure = error
            input.removeAll()
            throw error
        }
        guard var request = head, input.count >= bodyByteCount else { return nil }
        request.body = Array(input[0..<bodyByteCount])
        input.removeFirst(bodyByteCount)
        head = nil
        bodyByteCount = 0
        awaitsContinue = false
        return request
    }

    /// Whether the client waits for `HTTPResponse.continueBytes` before it sends the body of `head`; true once per request.
    package mutating func takeContinue() -> Bool {
        defer { awaitsContinue = false }
        return awaitsContinue
    }

    /// The bytes after the last request, for the protocol that the connection switches to.
    package mutating func takeRemainder() -> [UInt8] {
        defer { input.removeAll() }
        return Array(input[0..<input.count])
    }
}

// Lines.
extension HTTPRequestReader {
    private mutating func readHead() throws(HTTPRequestError) {
        while head == nil, examinedByteCount < input.count {
            guard examinedByteCount < limits.headByteCount else {
                throw requestLine == nil
                    ? .requestLineTooLong(limit: limits.headByteCount) : .headersTooLong(limit: limits.headByteCount)
            }
            let byte = input[examinedByteCount]
            examinedByteCount += 1
            guard followsCarriageReturn == (byte == .lineFeed) else { throw .bareLineEnd }
            followsCarriageReturn = byte == .carriageReturn
            if byte == .lineFeed {
                let line = input[lineStart..<examinedByteCount - 2]
                let isFirst = lineStart == 0
                lineStart = examinedByteCount
                // One empty line before a request is ignored (RFC 9112 section 2.2).
                if !isFirst || !line.isEmpty { try take(line) }
            } else if byte.isControl, byte != .tab, byte != .carriageReturn {
                throw .controlCharacter
            }
        }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        guard let requestLine else {
            requestLine = try Self.requestLine(line)
            return
        }
        guard line.isEmpty else { return try takeHeader(line) }
        head = try request(requestLine)
        input.removeFirst(examinedByteCount)
        (examinedByteCount, lineStart) = (0, 0)
        self.requestLine = nil
        headers = HTTPHeaders()
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) -> RequestLine {
        let parts = line.split(separator: .space, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenCharacter), !parts[1].isEmpty else {
            throw .malformedRequestLine
        }
        let version = Array(parts[2])
        guard version.count == 8, version.starts(with: "HTTP/".utf8), version[5].isASCIIDigit,
            version[6] == UInt8(ascii: "."), version[7].isASCIIDigit
        else { throw .malformedRequestLine }
        guard version[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
        let method = HTTPMethod(rawValue: String(decoding: parts[0], as: UTF8.self)) ?? .other
        return RequestLine(method: method, target: Array(parts[1]), isVersion10: version[7] == UInt8(ascii: "0"))
    }

    private mutating func takeHeader(_ line: ArraySlice<UInt8>) throws(HTTPRequestError) {
        guard line.first?.isBlank == false else { throw .foldedHeader }
        guard let colon = line.firstIndex(of: .colon), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else { throw .malformedHeader }
        guard headers.count < limits.headerCount else { throw .tooManyHeaders(limit: limits.headerCount) }
        let name = String(decoding: line[..<colon].map(\.asciiLowercased), as: UTF8.self)
        guard !Self.unique.contains(name) || headers[name] == nil else { throw .repeatedHeader(name) }
        headers.append(HTTPField(name, String(decoding: line[colon...].dropFirst().trimmed, as: UTF8.self)))
    }

    /// A proxy could act on the first value of these headers, and this server on the second.
    private static let unique: Set = [
        "authorization", "content-encoding", "content-length", "content-type", "expect", "host", "if-range", "origin",
        "range", "referer", "sec-fetch-site", "sec-websocket-key", "sec-websocket-version", "transfer-encoding",
    ]
}

// The head as a whole.
extension HTTPRequestReader {
    private mutating func request(_ line: RequestLine) throws(HTTPRequestError) -> HTTPRequest {
        let target = try HTTPTarget(line.target[...], method: line.method)
        let host = try host(target)
        bodyByteCount = try announcedByteCount()
        let request = HTTPRequest(
            method: line.method, target: target, host: host, headers: headers, isVersion10: line.isVersion10)
        if let expectation = headers["expect"], !line.isVersion10 {
            guard Array(expectation.utf8)[...].isCaseless("100-continue") else { throw .unknownExpectation }
            // Without a body, the request is complete in the same call.
            awaitsContinue = true
        }
        return request
    }

    /// Also with HTTP/1.0: the host is what shows that a page of another name has not borrowed this address.
    private func host(_ target: HTTPTarget) throws(HTTPRequestError) -> NetworkHost {
        guard let text = headers["host"] else { throw .missingHost }
        guard let host = NetworkHost(strictly: Array(text.utf8)[...]) else { throw .malformedHost }
        guard target.host == nil || target.host == host else { throw .contradictoryHosts }
        return host
    }

    private func announcedByteCount() throws(HTTPRequestError) -> Int {
        let length = headers["content-length"]
        if let coding = headers["transfer-encoding"] {
            guard length == nil else { throw .contradictoryLengths }
            throw Array(coding.utf8)[...].isCaseless("chunked") ? .chunkedBody : .unknownTransferCoding
        }
        guard let length else { return 0 }
        guard let byteCount = Array(length.utf8)[...].digitsValue else { throw .malformedContentLength }
        guard byteCount <= limits.bodyByteCount else { throw .bodyTooLong(limit: limits.bodyByteCount) }
        return byteCount
    }
}
