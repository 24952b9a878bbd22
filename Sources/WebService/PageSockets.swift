import HTTP
import Media
import PageLogic
import Transport

/// A WebSocket after its handshake. Used from the thread "page".
final class PageSocket {
    enum Purpose {
        case events
        case preview(ViewerQueue)
    }

    /// A browser that is alive is heard this often.
    static let pingInterval = Duration.seconds(20)

    var purpose: Purpose
    var reader = WebSocketReader()
    /// A ping was sent, and nothing has come since.
    var isPinged = false
    /// When it is pinged, or given up.
    var deadline: MediaTimestamp

    init(_ purpose: Purpose, now: MediaTimestamp) {
        self.purpose = purpose
        deadline = now + Self.pingInterval
    }

    var isPreview: Bool { if case .preview = purpose { true } else { false } }
}

extension PageThread {
    /// Each page shows the camera once.
    static let viewerLimit = 2
    /// More would take the connections that requests need.
    static let followerLimit = 6
    /// Bytes of events that wait for a browser; later ones are left out.
    static let eventCapacity = 64 * 1024

    func openSocket(_ request: HTTPRequest, _ pass: PageGate.Pass, of client: PageClient, now: MediaTimestamp) {
        do throws(WebSocketHandshake.Fault) {
            let handshake = try WebSocketHandshake(request, sha1: SHA1.digest(of:))
            client.send(handshake.response.headBytes(for: .get, keepsAlive: true), now: now)
        } catch {
            let status = error.response.status
            return refuse(client, request, status, name: "badHandshake", "this is no WebSocket of version 13", now: now)
        }
        let isPreview = pass.route.purpose == .previewSocket
        let limit = isPreview ? Self.viewerLimit : Self.followerLimit
        let isFull = isPreview && viewer == nil || sockets(isPreview: isPreview).count >= limit
        client.state = .socket(
            PageSocket(isPreview ? .preview(ViewerQueue(joining: previewStart)) : .events, now: now))
        if isPreview, !isFull, previewStart == nil { sendIdle(to: client, now: now) }
        if isFull {
            close(
                client, .tryAgainLater,
                isPreview ? "two browsers already show the camera" : "too many pages follow the events", now: now)
        }
        // Sent before the answer to the handshake was read.
        if case .socket(let socket) = client.state {
            received(client.reader.takeRemainder(), on: socket, of: client, now: now)
        }
    }

    func sockets(isPreview: Bool) -> [PageClient] {
        clients.filter { if case .socket(let socket) = $0.state { socket.isPreview == isPreview } else { false } }
    }

    func received(_ bytes: [UInt8], on socket: PageSocket, of client: PageClient, now: MediaTimestamp) {
        socket.isPinged = false
        socket.deadline = now + PageSocket.pingInterval
        socket.reader.receive(bytes)
        do throws(WebSocketError) {
            while case .socket = client.state, let message = try socket.reader.next() {
                take(message, on: socket, of: client, now: now)
            }
        } catch {
            close(client, error.closeCode, "\(error)", now: now)
        }
    }

    private func take(_ message: WebSocketMessage, on socket: PageSocket, of client: PageClient, now: MediaTimestamp) {
        switch message {
        case .ping(let bytes): send(.pong(bytes), to: client, now: now)
        case .pong, .binary: break
        case .text(let text): if socket.isPreview { viewerAsked(text, socket, now: now) }
        case .close(let code, _): close(client, code ?? .normal, "", now: now)
        }
    }

    /// - Parameter reason: for people.
    func close(_ client: PageClient, _ code: WebSocketCloseCode, _ reason: String, now: MediaTimestamp) {
        client.state = .closing
        send(.close(code, reason: reason), to: client, now: now)
    }

    func send(_ frame: WebSocketFrame, to client: PageClient, now: MediaTimestamp) {
        client.send(frame.header, frame.payload, now: now)
    }

    /// A browser was silent, or has not taken what it was sent.
    func socketIsDue(_ client: PageClient, now: MediaTimestamp) {
        guard case .socket(let socket) = client.state, socket.deadline <= now, !socket.isPinged else {
            client.isDone = true
            return
        }
        socket.isPinged = true
        socket.deadline = now + PageClient.patience
        send(.ping(), to: client, now: now)
    }

    func deliver(event json: [UInt8], now: MediaTimestamp) {
        let frame = WebSocketFrame.text(String(decoding: json, as: UTF8.self))
        for client in sockets(isPreview: false) where client.output.byteCount < Self.eventCapacity {
            send(frame, to: client, now: now)
        }
    }
}
