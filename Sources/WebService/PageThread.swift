import Bitstream
import HTTP
import LinuxIO
import Media
import PageLogic
import Transport

/// The page's server: sockets, requests and WebSockets. It waits for nothing but its descriptors; the device answers later.
/// Used from the thread "page".
final class PageThread {
    /// More connections than two browsers open happen only by mistake or on purpose.
    static let connectionLimit = 16
    /// Connections accepted in a turn. Few, so that in a flood a request is read before its connection makes room.
    private static let mostAccepts = 4

    private enum Wait: Equatable {
        case notices, listener, viewer, disk
        case client(UInt64)
    }

    private let listener: PageListener
    private let notices: Mailbox<PageNotice>
    private var lastID: UInt64
    private var isOver = false
    private var acceptPause = AcceptPause()
    let orders: Mailbox<PageOrder>
    let viewer: ViewerSink?
    let assets = PageAssets()
    let disk: PageDisk
    var gate: PageGate
    var pairingAttempts = AttemptLimits()
    var clients: [PageClient] = []
    /// For a browser that joins others; `nil` while there is no picture.
    var previewStart: MP4LiveFragments.Start?
    /// Why there is no picture; `nil` if there may be one.
    var previewProblem: String?
    /// What the device was last told.
    var told = (eventsWanted: false, viewers: 0)

    init(
        _ listener: PageListener, _ gate: PageGate, orders: Mailbox<PageOrder>, notices: Mailbox<PageNotice>,
        viewer: ViewerSink?, disk: PageDisk, firstID: UInt64
    ) {
        self.listener = listener
        lastID = firstID
        self.disk = disk
        self.gate = gate
        self.orders = orders
        self.notices = notices
        self.viewer = viewer
    }

    func run() {
        while !isOver {
            var waits = PollSet<Wait>()
            waits.add(.notices, notices.wakeup.fileDescriptor)
            waits.add(.viewer, viewer?.wakeup.fileDescriptor ?? -1)
            waits.add(.disk, disk.reports.wakeup.fileDescriptor)
            // The kernel's queue holds those that do not fit; one at most makes room at a time.
            waits.add(.listener, hasRoom && acceptPause.end == nil ? listener.tcp.fileDescriptor : -1)
            waits.wake(at: acceptPause.end)
            for client in clients {
                waits.add(.client(client.id), [client.pollEntry])
                waits.wake(at: client.deadline)
            }
            guard (try? waits.wait()) != nil else { return }
            serve(waits, now: MonotonicClock.now())
        }
    }

    private func serve(_ waits: PollSet<Wait>, now: MediaTimestamp) {
        for notice in notices.takeAll() { take(notice, now: now) }
        for report in disk.reports.takeAll() { take(report, now: now) }
        if waits.isReady(.viewer) { deliverPreview(now: now) }
        for client in clients where !client.isDone { serve(client, waits.ready(.client(client.id)), now: now) }
        // Requests that arrived together with one that is answered now.
        for client in clients where !client.isDone { readRequests(of: client, now: now) }
        acceptPause.timeReached(now: now)
        if waits.isReady(.listener) { accept(now: now) }
        dropDone()
        reportSockets()
    }

    private func take(_ notice: PageNotice, now: MediaTimestamp) {
        switch notice {
        case .answer(let id, let response):
            guard let client = clients.first(where: { $0.id == id }), case .waiting(let request) = client.state else {
                return
            }
            respond(to: client, request, response, now: now)
        case .keysChanged(let keys): keysChanged(to: keys)
        case .namesChanged(let names): gate.names = names
        case .event(let json): deliver(event: json, now: now)
        case .recordingsMoved(let place): disk.place = place
        case .previewProblem(let text): previewProblemChanged(to: text, now: now)
        case .end: isOver = true
        }
    }

    /// A browser that was revoked loses its open connections, too, and what was admitted but not done.
    private func keysChanged(to keys: BrowserKeys) {
        gate.keys = keys
        for client in clients {
            let key = client.key ?? client.pass?.key
            if let key, keys.key(hashedTo: key.hash) == nil, !client.isAnswered { client.isDone = true }
        }
    }

    // MARK: Connections

    private var hasRoom: Bool { clients.count < Self.connectionLimit || clients.contains { $0.mayGo } }

    private func accept(now: MediaTimestamp) {
        for _ in 0..<Self.mostAccepts {
            guard hasRoom, let accepted = nextConnection(now: now) else { return }
            if clients.count >= Self.connectionLimit { makeRoom() }
            lastID += 1
            clients.append(PageClient(lastID, accepted.stream, accepted.place, now: now))
        }
    }

    private func nextConnection(now: MediaTimestamp) -> PageListener.Accepted? {
        do throws(TransportError) {
            return try listener.accept()
        } catch {
            if acceptPause.failed(now: now) {
                orders.send(PageOrder(id: 0, purpose: .trouble("the page takes no more connections: \(error)")))
            }
            return nil
        }
    }

    /// A stranger goes first, of the address that has most of them: a flood must not end the handshakes of others. Then the
    /// connection that was unused for longest.
    private func makeRoom() {
        let free = clients.filter(\.mayGo)
        let strangers = free.filter { !$0.isTrusted }
        let counts = Dictionary(grouping: strangers, by: \.place.peerAddress).mapValues(\.count)
        let most = counts.values.max()
        let client =
            strangers.first { counts[$0.place.peerAddress] == most } ?? free.min { $0.lastProgress < $1.lastProgress }
        clients.removeAll { $0 === client }
    }

    private func dropDone() { clients.removeAll(where: \.isDone) }

    private func serve(_ client: PageClient, _ ready: PollEvents, now: MediaTimestamp) {
        if client.deadline <= now {
            if case .socket = client.state { socketIsDue(client, now: now) } else { client.isDone = true }
        }
        guard !ready.isEmpty, !client.isDone else { return }
        if ready.contains(.writable) || ready.contains(.hangUp) {
            client.flush(now: now)
            deliver([], to: client, now: now)
            continueDownload(to: client)
        }
        if ready.contains(.readable) || ready.contains(.hangUp) {
            guard let bytes = client.receive(now: now) else { return }
            switch client.state {
            case .socket(let socket): received(bytes, on: socket, of: client, now: now)
            case .draining: break
            default: client.reader.receive(bytes)
            }
        }
    }
}

extension PageClient {
    /// Whether only the end of an answer is left, which may be that of its own revocation.
    fileprivate var isAnswered: Bool {
        switch state {
        case .waiting, .closing, .draining: true
        case .reading, .socket, .download: false
        }
    }

    /// Whether it may make room for another one: it is a stranger's, or a paired browser does not use it.
    var mayGo: Bool {
        switch state {
        case .reading: !isTrusted || output.isEmpty && !reader.isWithinRequest
        case .closing: !isTrusted
        case .draining: true
        case .waiting, .socket, .download: false
        }
    }
}
