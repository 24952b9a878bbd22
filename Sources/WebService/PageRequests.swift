import HTTP
import JSONText
import Media
import PageLogic
import Settings
import Transport

// Requests on their way to the device.
extension PageThread {
    /// Answers what has arrived, one request after the other: the next is read when the answer has been sent.
    func readRequests(of client: PageClient, now: MediaTimestamp) {
        do throws(HTTPRequestError) {
            while case .reading = client.state, client.output.isEmpty, !client.isDone {
                let request = try client.reader.next()
                guard let head = request ?? client.reader.head else { return }
                guard judged(head, of: client, now: now) else { return }
                guard let request else {
                    if client.reader.takeContinue() { client.send(HTTPResponse.continueBytes, now: now) }
                    return
                }
                answer(request, of: client, now: now)
            }
        } catch {
            refuse(client, nil, error.status, name: "badRequest", "\(error)", now: now)
        }
    }

    /// Decides about a request before its body is taken in.
    private func judged(_ head: HTTPRequest, of client: PageClient, now: MediaTimestamp) -> Bool {
        guard client.pass == nil else { return true }
        do throws(PageRefusal) {
            client.pass = try gate.admit(head, on: client.place, hash: SHA256.digest(of:), now: now)
            return true
        } catch {
            refuse(client, head, error, now: now)
            return false
        }
    }

    private func answer(_ request: HTTPRequest, of client: PageClient, now: MediaTimestamp) {
        guard let pass = client.pass.take() else { return }
        client.key = pass.key
        switch pass.route.purpose {
        case .asset: respond(to: client, request, assets.response(to: request), now: now)
        case .eventSocket, .previewSocket: openSocket(request, pass, of: client, now: now)
        case .beginPairing: beginPairing(request, pass, of: client, now: now)
        case .listRecordings: disk.list(for: ask(client, request))
        case .readRecording: disk.open(request.segments.last ?? "", for: ask(client, request))
        default:
            do throws(PageFault) {
                let purpose = try order(for: request, pass)
                client.state = .waiting(request)
                orders.send(PageOrder(id: client.id, purpose: purpose))
            } catch {
                refuse(client, request, error.status, name: error.name, error.text, now: now)
            }
        }
    }

    /// - Returns: the connection that waits for the disk.
    private func ask(_ client: PageClient, _ request: HTTPRequest) -> UInt64 {
        client.state = .waiting(request)
        return client.id
    }

    private func order(for request: HTTPRequest, _ pass: PageGate.Pass) throws(PageFault) -> PageOrder.Purpose {
        let argument = request.segments.last ?? ""
        switch pass.route.purpose {
        case .command(let line): return .command(line)
        case .givenCommand: return .command(try Self.command(in: request.body))
        case .plainStatus: return .plainStatus
        case .metrics: return .metrics
        case .support: return .support
        case .lookAtPairing: return .lookAtPairing(secrets(of: request))
        case .listFiles: return .listFiles
        case .readFile: return .readFile(argument)
        case .writeFile: return .writeFile(argument, request.body, replaces: try Self.replacedTag(request))
        case .listKeys: return .listKeys(current: pass.key?.id ?? "")
        case .revokeKey: return .revokeKey(argument)
        case .asset, .beginPairing, .eventSocket, .previewSocket, .listRecordings, .readRecording: throw .unknown
        }
    }

    /// - Parameter body: `{"command": "set zoom 2"}`
    private static func command(in body: [UInt8]) throws(PageFault) -> String {
        guard let json = try? JSONValue(parsing: body), case .string(let line)? = json["command"]?.content,
            !line.utf8.contains(0x0A)
        else { throw .noCommand }
        return line
    }

    /// Which version of a file the browser has edited. Without it, two pages would overwrite each other.
    private static func replacedTag(_ request: HTTPRequest) throws(PageFault) -> String? {
        if case .any? = request.ifNoneMatch { return nil }
        guard case .tags(let tags)? = request.ifMatch, tags.count == 1, !tags[0].isWeak else { throw .noVersion }
        return tags[0].text
    }
}

// Pairing.
extension PageThread {
    /// Cookie with the secret of an attempt, in hexadecimal digits.
    static let attemptCookie: StaticString = "tallycam-pairing"

    /// The hashes of the attempts' secrets. There may be several: another server on this address can add a cookie.
    private func secrets(of request: HTTPRequest) -> [[UInt8]] {
        request.cookies(named: Self.attemptCookie.description).prefix(PageGate.mostCookies)
            .compactMap { [UInt8](hexadecimal: $0.revealed) }.filter { $0.count == BrowserKeys.byteCount }
            .map(SHA256.digest(of:))
    }

    private func beginPairing(_ request: HTTPRequest, _ pass: PageGate.Pass, of client: PageClient, now: MediaTimestamp)
    {
        if let wait = pairingAttempts.attempted(from: client.place.peerAddress, now: now) {
            return refuse(client, request, PageRefusal.tooManyAttempts(wait), now: now)
        }
        // Always another secret: whoever has put one into this browser would get the key as well.
        guard let secret = try? randomBytes(count: BrowserKeys.byteCount) else {
            return refuse(
                client, request, .internalServerError, name: "system", "there are no random numbers", now: now)
        }
        client.newSecret = secret
        client.state = .waiting(request)
        let name = BrowserName.of(userAgent: request.headers["user-agent"] ?? "")
        let attempt = Pairing.Attempt(
            secret: SHA256.digest(of: secret), name: "\(name) at \(client.place.peerAddress)")
        orders.send(PageOrder(id: client.id, purpose: .beginPairing(attempt, insteadOf: secrets(of: request))))
    }
}

/// What is wrong with a request that was let in.
enum PageFault: Error {
    case noCommand, noVersion, unknown

    var status: HTTPStatus {
        switch self {
        case .noCommand: .badRequest
        case .noVersion: .preconditionRequired
        case .unknown: .notFound
        }
    }

    /// For programs; it never changes.
    var name: String {
        switch self {
        case .noCommand: "noCommand"
        case .noVersion: "noVersion"
        case .unknown: "unknownPath"
        }
    }

    var text: String {
        switch self {
        case .noCommand: "the body must be {\"command\": \"...\"} with a line of the console"
        case .noVersion: "If-Match must name the version that was edited; for a new file, send If-None-Match: *"
        case .unknown: "there is nothing under this path"
        }
    }
}
