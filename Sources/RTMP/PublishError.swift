/// The answer that a publish session waits for.
public enum PublishStep: String, Sendable {
    case handshake
    case connect
    case createStream
    case publish
    /// None: media flows.
    case media
}

/// Why publishing ended or could not start. Texts from the server are stored without secrets and control characters,
/// truncated to 200 characters.
public enum PublishError: Error, Equatable, Sendable {
    /// The server's first byte was not 3: it does not speak RTMP, or only an encrypted variant.
    case handshakeFailed(version: UInt8)
    case timedOut(waitingFor: PublishStep)
    case connectRejected(code: String, description: String)
    case invalidApplication(String, description: String)
    /// The server requires user and password, and none were given.
    case credentialsMissing
    case credentialsRefused(description: String)
    case streamNotCreated(description: String)
    /// The name already has a publisher, or the server does not know it.
    case badName(description: String)
    case publishDenied(code: String, description: String)
    /// The server reports an error of the running stream.
    case streamFailed(code: String, description: String)
    /// The server announced the end of the connection or the stream.
    case closedByServer(code: String)
    /// The unencrypted connection ended before the server sent anything.
    case closedUnencrypted
    /// The connection ended without an announcement.
    case connectionLost(during: PublishStep)
    case invalidChunks(ChunkError)
    case invalidCommand(AMF0Error)
}

extension PublishError {
    /// The code in the event list, -1004...-1015.
    public var code: Int {
        switch self {
        case .handshakeFailed: -1004
        case .connectRejected, .credentialsMissing, .credentialsRefused: -1005
        case .closedByServer: -1007
        case .badName, .publishDenied, .connectionLost(.createStream), .connectionLost(.publish): -1008
        case .invalidApplication: -1011
        case .invalidChunks, .invalidCommand: -1012
        case .closedUnencrypted, .connectionLost: -1013
        case .streamNotCreated, .streamFailed: -1014
        case .timedOut: -1015
        }
    }

    /// Whether the same attempt may succeed later without a change of settings.
    ///
    /// This includes a name in use: after a network failure the server may still hold the old connection.
    public var mayPassByItself: Bool {
        switch self {
        case .credentialsMissing, .credentialsRefused, .invalidApplication: false
        case .handshakeFailed(let version): !Self.isTLS(version)
        case .connectRejected, .publishDenied, .timedOut, .streamNotCreated, .badName, .streamFailed,
            .closedByServer, .closedUnencrypted, .connectionLost, .invalidChunks, .invalidCommand:
            true
        }
    }

    /// Whether the byte starts a TLS record with an alert or a handshake (RFC 8446 section 5.1).
    private static func isTLS(_ firstByte: UInt8) -> Bool { firstByte == 21 || firstByte == 22 }
}

extension PublishError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .handshakeFailed(let version) where Self.isTLS(version):
            "the server speaks TLS on this port; start the URL with rtmps://"
        case .handshakeFailed(let version):
            "the server answered the handshake with version \(version) instead of 3; check host, port and rtmp/rtmps"
        case .timedOut(let step): "the server did not answer \(step.rawValue) in time; it may be overloaded"
        case .connectRejected(let code, let text): "the server rejected the connection" + Self.quote(code, text)
        case .invalidApplication(let application, let text):
            "the server has no application \"\(application)\"" + Self.quote("", text) + "; check the URL"
        case .credentialsMissing: "the server requires a user and password; add them to the URL or the stream file"
        case .credentialsRefused(let text): "the server refused the user or password" + Self.quote("", text)
        case .streamNotCreated(let text): "the server did not create a stream" + Self.quote("", text)
        case .badName(let text):
            "the server refused the stream name" + Self.quote("", text)
                + "; it may be wrong, or another publisher may be using it"
        case .publishDenied(let code, let text):
            "the server denied publishing" + Self.quote(code, text) + "; check the stream key"
        case .streamFailed(let code, let text): "the server reports a stream error" + Self.quote(code, text)
        case .closedByServer(let code): "the server ended the connection" + Self.quote(code, "")
        case .connectionLost(.connect):
            "the server closed the connection instead of answering connect; check the application in the URL"
        case .closedUnencrypted:
            "the server closed the connection without an answer; if it speaks TLS on this port, "
                + "start the URL with rtmps://"
        case .connectionLost(.createStream), .connectionLost(.publish):
            "the server ended the connection when the stream key was sent; the key is probably wrong or in use: "
                + "compare it with the key that the service shows (see docs/services)"
        case .connectionLost(.media): "the connection to the server was lost"
        case .connectionLost(let step): "the server closed the connection during \(step.rawValue)"
        case .invalidChunks(let error): "the server sent data that is not RTMP: \(error)"
        case .invalidCommand(let error): "the server sent a damaged command: \(error)"
        }
    }

    private static func quote(_ code: String, _ text: String) -> String {
        // The sentence continues after the server's text.
        var text = text[...]
        while text.last == "." { text.removeLast() }
        return switch (code.isEmpty, text.isEmpty) {
        case (true, true): ""
        case (false, true): " (\(code))"
        case (true, false): ": \(text)"
        case (false, false): " (\(code): \(text))"
        }
    }
}
