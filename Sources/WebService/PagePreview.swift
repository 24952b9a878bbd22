import HTTP
import JSONText
import Media
import PageLogic
import Settings

// The live preview: from the sink to the browsers that show it.
extension PageThread {
    /// What a browser's connection holds that was not sent yet. More would be a delay; it waits in the browser's queue, where the
    /// oldest is left out.
    private static let unsentLimit = 64 * 1024

    func deliverPreview(now: MediaTimestamp) {
        guard let viewer else { return }
        let messages = viewer.takeAll()
        for message in messages {
            switch message {
            case .start(let start): previewStart = start
            case .ended: previewStart = nil
            case .fragment: break
            }
        }
        for client in sockets(isPreview: true) { deliver(messages, to: client, now: now) }
    }

    /// Sends what the connection has room for.
    func deliver(_ messages: [ViewerMessage], to client: PageClient, now: MediaTimestamp) {
        guard case .socket(let socket) = client.state, case .preview(var queue) = socket.purpose else { return }
        // Not copied while it is changed.
        socket.purpose = .events
        for message in messages { queue.append(message, now: now) }
        while client.output.byteCount < Self.unsentLimit, let message = queue.take() {
            send(message, to: client, now: now)
        }
        if queue.wantsKeyframe { viewer?.requestKeyframe() }
        socket.purpose = .preview(queue)
    }

    private func send(_ message: ViewerMessage, to client: PageClient, now: MediaTimestamp) {
        switch message {
        case .start(let start):
            var writer = JSONLineWriter()
            let text = writer.line { object in
                object.writeObject("init") { value in
                    value.write("codecs", start.codecs)
                    value.write("width", start.size.width)
                    value.write("height", start.size.height)
                }
            }
            send(.text(String(decoding: text, as: UTF8.self)), to: client, now: now)
            send(.binary(start.segment), to: client, now: now)
        case .fragment(let bytes, _): send(.binary(bytes), to: client, now: now)
        case .ended: sendIdle(to: client, now: now)
        }
    }

    func previewProblemChanged(to text: String?, now: MediaTimestamp) {
        previewProblem = text
        guard text != nil else { return }
        for client in sockets(isPreview: true) { sendIdle(to: client, now: now) }
    }

    /// Tells a browser why it shows nothing.
    func sendIdle(to client: PageClient, now: MediaTimestamp) {
        var writer = JSONLineWriter()
        let text = writer.line { $0.write("idle", previewProblem ?? "waiting for the camera") }
        send(.text(String(decoding: text, as: UTF8.self)), to: client, now: now)
    }

    /// - Parameter text: `{"pause": true}` while the page is hidden.
    func viewerAsked(_ text: String, _ socket: PageSocket, now: MediaTimestamp) {
        guard let json = try? JSONValue(parsing: Array(text.utf8)), case .bool(let isPaused)? = json["pause"]?.content,
            case .preview(var queue) = socket.purpose
        else { return }
        queue.setPaused(isPaused)
        socket.purpose = .preview(queue)
        if queue.wantsKeyframe { viewer?.requestKeyframe() }
    }

    /// Tells the device what browsers want to see.
    func reportSockets() {
        let present = (eventsWanted: !sockets(isPreview: false).isEmpty, viewers: lookingCount)
        if present.eventsWanted != told.eventsWanted {
            orders.send(PageOrder(id: 0, purpose: .eventsWanted(present.eventsWanted)))
        }
        if present.viewers != told.viewers {
            if told.viewers == 0 { viewer?.open() }
            if present.viewers == 0 {
                viewer?.close()
                // A closed sink does not say when the stream ends. The next browser gets a new start.
                previewStart = nil
            }
            orders.send(PageOrder(id: 0, purpose: .viewersChanged(present.viewers)))
        }
        told = present
    }

    /// Browsers whose page shows the camera right now.
    private var lookingCount: Int {
        clients.count { client in
            guard case .socket(let socket) = client.state, case .preview(let queue) = socket.purpose else {
                return false
            }
            return !queue.isPaused
        }
    }
}
