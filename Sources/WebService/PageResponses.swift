import HTTP
import JSONText
import Media
import PageLogic

// Answers on their way to the browser.
extension PageThread {
    /// - Parameter next: what the connection does then; `nil` for another request, or its end.
    func respond(
        to client: PageClient, _ request: HTTPRequest, _ response: HTTPResponse, then next: PageClient.State? = nil,
        now: MediaTimestamp
    ) {
        var response = response
        response.addProtection()
        if let secret = client.newSecret.take(), response.status == .accepted {
            response.setCookie(
                Self.attemptCookie, Secret(secret.hexadecimal), maxAge: Self.attemptSeconds,
                isSecure: gate.scheme == .https)
        }
        client.state = next ?? (request.keepsAlive ? .reading : .closing)
        send(response, for: request.method, to: client, keepsAlive: request.keepsAlive, now: now)
    }

    /// The cookie outlasts the attempt, so that the browser learns of its end.
    private static let attemptSeconds = 600

    func refuse(_ client: PageClient, _ request: HTTPRequest, _ refusal: PageRefusal, now: MediaTimestamp) {
        refuse(client, request, refusal.status, name: refusal.name, "\(refusal)", now: now) { response in
            switch refusal {
            case .tooManyAttempts(let wait): response.set("Retry-After", "\(max(1, Int(wait.inSeconds)))")
            case .wrongMethod(let allowed): response.set("Allow", allowed.map(\.rawValue).joined(separator: ", "))
            case .notAWebSocket: response.set("Upgrade", "websocket")
            default: break
            }
        }
    }

    /// A refused request ends its connection: its body was not taken in.
    /// - Parameter request: `nil` if it could not be read.
    func refuse(
        _ client: PageClient, _ request: HTTPRequest?, _ status: HTTPStatus, name: String, _ text: String,
        now: MediaTimestamp, _ complete: (inout HTTPResponse) -> Void = { _ in }
    ) {
        client.newSecret = nil
        var response = HTTPResponse.refusal(status, name: name, text)
        response.addProtection()
        complete(&response)
        client.state = .closing
        send(response, for: request?.method ?? .get, to: client, keepsAlive: false, now: now)
    }

    private func send(
        _ response: HTTPResponse, for method: HTTPMethod, to client: PageClient, keepsAlive: Bool, now: MediaTimestamp
    ) {
        let head = response.headBytes(for: method, keepsAlive: keepsAlive)
        if case .bytes(let body) = response.body, response.sendsBody(for: method) {
            client.send(head, body, now: now)
        } else {
            client.send(head, now: now)
        }
    }
}

extension HTTPResponse {
    package static func json(_ body: [UInt8], _ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status, contentType: "application/json", body)
    }

    /// `{"error": NAME, "text": WORDS}`
    package static func refusal(_ status: HTTPStatus, name: String, _ text: String) -> HTTPResponse {
        var writer = JSONLineWriter()
        let body = writer.line { object in
            object.write("error", name)
            object.write("text", text)
        }
        return .json(body, status)
    }

    /// What protects the page in the browser: its own files only, in no other page's frame, nothing kept by caches.
    fileprivate mutating func addProtection() {
        set(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
                + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
        set("X-Content-Type-Options", "nosniff")
        set("X-Frame-Options", "DENY")
        set("Referrer-Policy", "no-referrer")
        set("Cross-Origin-Resource-Policy", "same-origin")
        set("Cross-Origin-Opener-Policy", "same-origin")
        if headers["cache-control"] == nil { set("Cache-Control", "no-store") }
    }
}
