/// Why bytes are not a request that this server serves. The position in the stream is lost: answer with `status`, and close
/// the connection.
package enum HTTPRequestError: Error, Hashable, Sendable {
    /// The first line is not a method, a target and a version with one space between them.
    case malformedRequestLine
    /// HTTP/1.0 and HTTP/1.1 are served.
    case unsupportedVersion
    /// The target is not a path of valid, decodable UTF-8 without `..`, encoded slashes and control characters.
    case malformedTarget
    /// A line ends with CR or LF alone.
    case bareLineEnd
    case controlCharacter
    /// A name is empty, or contains something other than token characters, for example a space before the colon.
    case malformedHeader
    /// A header continues in the next line (RFC 9112 section 5.2).
    case foldedHeader
    /// A header that must be unique occurs twice. The name is in lowercase.
    case repeatedHeader(String)
    case missingHost
    case malformedHost
    /// The target has another host than the header.
    case contradictoryHosts
    case malformedContentLength
    /// Both Content-Length and Transfer-Encoding say where the body ends.
    case contradictoryLengths
    /// The body comes in chunks. This server wants Content-Length.
    case chunkedBody
    case unknownTransferCoding
    case unknownExpectation
    case bodyTooLong(limit: Int)
    case requestLineTooLong(limit: Int)
    case headersTooLong(limit: Int)
    case tooManyHeaders(limit: Int)

    package var status: HTTPStatus {
        switch self {
        case .malformedRequestLine, .malformedTarget, .bareLineEnd, .controlCharacter, .malformedHeader, .foldedHeader,
            .repeatedHeader, .missingHost, .malformedHost, .contradictoryHosts, .malformedContentLength,
            .contradictoryLengths:
            .badRequest
        case .unsupportedVersion: .versionNotSupported
        case .chunkedBody: .lengthRequired
        case .unknownTransferCoding: .notImplemented
        case .unknownExpectation: .expectationFailed
        case .bodyTooLong: .contentTooLarge
        case .requestLineTooLong: .targetTooLong
        case .headersTooLong, .tooManyHeaders: .headersTooLarge
        }
    }
}

extension HTTPRequestError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformedRequestLine: "the request line is malformed"
        case .unsupportedVersion: "only HTTP/1.0 and HTTP/1.1 are served"
        case .malformedTarget: "the path or the query is malformed"
        case .bareLineEnd: "a line does not end with CR and LF"
        case .controlCharacter: "the headers contain a control character"
        case .malformedHeader: "a header is malformed"
        case .foldedHeader: "a header extends over several lines"
        case .repeatedHeader(let name): "the header \(name) occurs more than once"
        case .missingHost: "the header Host is missing"
        case .malformedHost: "the host is malformed"
        case .contradictoryHosts: "the target and the header Host name different hosts"
        case .malformedContentLength: "Content-Length is not a number"
        case .contradictoryLengths: "a body has either Content-Length or Transfer-Encoding"
        case .chunkedBody: "the body needs Content-Length"
        case .unknownTransferCoding: "this Transfer-Encoding is not supported"
        case .unknownExpectation: "this expectation is not supported"
        case .bodyTooLong(let limit): "the body is longer than \(limit) bytes"
        case .requestLineTooLong(let limit): "the request line is longer than \(limit) bytes"
        case .headersTooLong(let limit): "the headers are longer than \(limit) bytes"
        case .tooManyHeaders(let limit): "the request has more than \(limit) headers"
        }
    }
}
