import ApplianceLogic
import CardStorage
import CommandChannels
import HTTP
import LinuxIO
import Media
import PageLogic
import RecordingLogic
import Settings
import StreamLogic
import Transport
import WebService

/// Serves the page: takes its requests, pairs browsers by the button, and keeps their keys. Used from the main thread.
final class PageDuty {
    /// File of the state partition.
    private static let keysName = "browsers"

    unowned let device: ApplianceDevice
    private var service: PageService?
    private var pairing = Pairing()
    private var keys: BrowserKeys
    private var identity: PageIdentity
    /// How the page is served, or was last.
    private var scheme = HTTPScheme.http
    private var names: Set<String> = []
    /// Of recordings, as the server knows it.
    private var place: RecordingPlace?
    /// Whether a browser follows the events.
    private(set) var eventsAreWanted = false
    /// Takes every stream's packets, for browsers that show the camera. It stays when the server ends.
    private var viewer: ViewerSink?
    private var toldProblem: String?
    /// How often the server was started.
    private var openings = 0
    /// Where people open the page; empty if it is not served.
    private(set) var urls: [String] = []
    /// Why nobody can open the page; `nil` if it is served, or not wanted.
    private(set) var failure: String?

    init(of device: ApplianceDevice) {
        self.device = device
        let text = try? readFile("\(device.settings.stateDirectory)/\(Self.keysName)", limit: 64 * 1024)
        keys = BrowserKeys(parsing: String(decoding: text ?? [], as: UTF8.self))
        identity = PageIdentity(in: device.settings.stateDirectory)
    }

    /// Starts or ends the server, as device.json wants it. Call it after reading the files, and every few seconds.
    func openIfWanted() {
        guard let endpoint = device.settings.pageEndpoint,
            let wanted = HTTPScheme(rawValue: device.files.device.page.rawValue)
        else {
            return end()
        }
        if wanted != scheme { end() }
        scheme = wanted
        guard service == nil else { return changed() }
        names = HostNames.all
        do {
            service = try makeService(on: endpoint)
            failure = nil
            // What the former server was told.
            (place, toldProblem) = (nil, nil)
            urls = []
            changed()
        } catch {
            let text = "the page cannot be opened: \(error)"
            if failure != text { device.tell(text: text) }
            failure = text
        }
    }

    private func makeService(on endpoint: Endpoint) throws -> PageService {
        let server =
            scheme == .http
            ? nil
            : try identity.identity(for: names) {
                device.card.write($0, $1, to: .state, now: MonotonicClock.now())
            }
        viewer = try viewer ?? ViewerSink()
        device.supervisor.viewer = viewer
        openings += 1
        // A card names the usual port.
        let port = endpoint.port == HTTPScheme.http.defaultPort ? scheme.defaultPort : endpoint.port
        let service = try PageService(
            listeningOn: Endpoint(host: endpoint.host, port: port), as: server,
            PageGate(scheme, names: names, keys: keys), viewer: viewer, opening: openings)
        if let server {
            device.tell(text: "the certificate of the page has the SHA-256 fingerprint \(server.fingerprint)")
        }
        return service
    }

    private func changed() {
        let place = RecordingPlace(device)
        if place != self.place { service?.tell(.recordingsMoved(place)) }
        self.place = place
        tellAddresses()
        guard names != HostNames.all else { return }
        names = HostNames.all
        service?.tell(.namesChanged(names))
    }

    private func tellAddresses() {
        guard let address = service?.address else { return }
        let present = PageAddresses.urls(
            scheme, listeningOn: address.host, port: address.port, name: HostNames.own, own: device.network.addresses)
        guard present != urls else { return }
        urls = present
        device.tell(text: "the page is at \(urls.joined(separator: " and "))")
    }

    func end() {
        service?.end()
        service = nil
        failure = nil
        urls = []
        eventsAreWanted = false
        device.supervisor.isViewerWanted = false
        // A press would admit a browser that cannot fetch its key.
        if pairing.nextDeadline != nil { change(now: MonotonicClock.now()) { $0 = Pairing() } }
    }

    func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.page, service?.orders.wakeup.fileDescriptor ?? -1)
        waits.wake(at: pairing.nextDeadline)
    }

    func serve(now: MediaTimestamp) {
        for order in service?.orders.takeAll() ?? [] { take(order, now: now) }
        if toldProblem != device.supervisor.viewerProblem {
            toldProblem = device.supervisor.viewerProblem
            service?.tell(.previewProblem(toldProblem))
        }
        if let deadline = pairing.nextDeadline, deadline <= now { change(now: now) { $0.timeReached(now: now) } }
    }

    /// - Parameter json: an event.
    func tell(json: [UInt8]) { if eventsAreWanted { service?.tell(.event(json)) } }

    // MARK: Requests

    private func take(_ order: PageOrder, now: MediaTimestamp) {
        let id = order.id
        switch order.purpose {
        case .command(let line): device.commands.take(line, from: asker(id) { .answer($0) })
        case .plainStatus: device.commands.take(.status(.text), from: asker(id) { .plainStatus($0.flatMap(\.lines)) })
        case .metrics: answer(id, .metrics(ApplianceStatus(of: device, now: now)))
        case .support: writeSupport(for: id, now: now)
        case .beginPairing(let attempt, let earlier): answer(id, begin(attempt, insteadOf: earlier, now: now))
        case .lookAtPairing(let secrets): answer(id, look(secrets, now: now))
        case .listFiles: edit(.list, id, now: now)
        case .readFile(let name): edit(name, id, now: now) { .read($0) }
        case .writeFile(let name, let text, let tag):
            device.personActed()
            edit(name, id, now: now) { .write($0, text, replaces: tag) }
        case .listKeys(let current): answer(id, .keys(keys, current: current))
        case .revokeKey(let key): answer(id, revoke(key, now: now))
        case .eventsWanted(let isWanted): eventsAreWanted = isWanted
        case .viewersChanged(let count): device.supervisor.isViewerWanted = count > 0
        case .trouble(let text): device.tell(text: text)
        }
    }

    func answer(_ id: UInt64, _ response: HTTPResponse) { service?.answer(id, response) }

    /// An asker that waits for the whole answer, which may come in parts.
    private func asker(_ id: UInt64, _ render: @escaping ([CommandAnswer]) -> HTTPResponse) -> CommandAsker {
        var parts: [CommandAnswer] = []
        return CommandAsker(on: .page) { [weak self] answer, _ in
            parts.append(answer)
            if answer.isComplete { self?.answer(id, render(parts)) }
        }
    }

    // MARK: Pairing

    /// While a stream runs, a press would stop it: then two presses admit a browser.
    var wantsDoublePress: Bool { pairing.isWaiting && device.stream.isPublishing }

    func pressed(twice: Bool, now: MediaTimestamp) -> Pairing.Press {
        guard twice == device.stream.isPublishing else { return .unneeded }
        var press = Pairing.Press.unneeded
        change(now: now) { press = $0.pressed(now: now) }
        switch press {
        case .unneeded: break
        case .admitted(let attempt): tellAdmitted(attempt)
        case .ambiguous(let count):
            device.tell(text: "the press admitted nobody: \(count) browsers waited; ask again with one of them")
        }
        return press
    }

    func admit(_ admission: PageAdmission, now: MediaTimestamp) -> CommandAnswer {
        switch admission {
        case .allow(let code): return allow(code, now: now)
        case .forget:
            keys = BrowserKeys()
            keysChanged(now: now)
            return .done(["no browser is paired"])
        }
    }

    private func allow(_ code: Int?, now: MediaTimestamp) -> CommandAnswer {
        change(now: now) { $0.timeReached(now: now) }
        let waiting = pairing.waiting
        guard code != nil || waiting.count < 2 else {
            return .failed(.severalBrowsersWait(waiting.map { "\($0.code): \($0.name)" }))
        }
        guard let code = code ?? waiting.first?.code else { return .failed(.noWaitingBrowser) }
        var admitted: Pairing.Attempt?
        change(now: now) { admitted = $0.allowed(code: code, now: now) }
        guard let admitted else { return .failed(.noWaitingBrowser) }
        tellAdmitted(admitted)
        return .done(["admitted"])
    }

    private func tellAdmitted(_ attempt: Pairing.Attempt) { device.tell(text: "\(attempt.name) is paired") }

    private func change(now: MediaTimestamp, _ change: (inout Pairing) -> Void) {
        change(&pairing)
        device.perform(device.appliance.pairingChanged(isWaiting: pairing.isWaiting))
        device.hearDoublePresses()
    }

    private func begin(_ attempt: Pairing.Attempt, insteadOf earlier: [[UInt8]], now: MediaTimestamp) -> HTTPResponse {
        change(now: now) { $0.requested(by: attempt, insteadOf: earlier, now: now) }
        device.personActed()
        let progress = pairing.progress(ofSecret: attempt.secret, now: now)
        if case .waiting(let waiting) = progress {
            let press = wantsDoublePress ? "press twice to admit it" : "press the button to admit it"
            let advice = waiting.otherCount == 0 ? press : "others do, too, so a press admits nobody"
            device.tell(text: "\(attempt.name) asks to be paired, code \(waiting.code): \(advice)")
        }
        return pairingResponse(.accepted, progress)
    }

    private func look(_ secrets: [[UInt8]], now: MediaTimestamp) -> HTTPResponse {
        let found = secrets.map { ($0, pairing.progress(ofSecret: $0, now: now)) }
        let waiting = found.first { if case .waiting = $0.1 { true } else { false } }
        guard let (secret, progress) = found.first(where: { $0.1 == .admitted }) ?? waiting ?? found.first else {
            return pairingResponse(.ok, nil)
        }
        var response = pairingResponse(.ok, progress)
        guard progress == .admitted, let key = makeKey(for: secret, now: now) else { return response }
        response.setCookie(PageGate.keyCookie, key, maxAge: Self.keyAge, isSecure: scheme == .https)
        return response
    }

    /// 400 days in seconds, the most that browsers keep a cookie.
    private static let keyAge = 400 * 24 * 3600

    private func makeKey(for secret: [UInt8], now: MediaTimestamp) -> Secret? {
        guard let bytes = try? randomBytes(count: BrowserKeys.byteCount) else { return nil }
        var taken: Pairing.Attempt?
        change(now: now) { taken = $0.keyTaken(bySecret: secret, now: now) }
        guard let taken else { return nil }
        let created = device.appliance.isWaitingForClock ? 0 : Int(WallClock.secondsSince1970())
        let replaced = keys.add(BrowserKeys.Key(hash: SHA256.digest(of: bytes), created: created, name: taken.name))
        if let replaced { device.tell(text: "\(replaced.name) is no longer paired: the newest five are kept") }
        keysChanged(now: now)
        return Secret(bytes.hexadecimal)
    }

    private func keysChanged(now: MediaTimestamp) {
        device.card.write(Self.keysName, Array(keys.text.utf8), to: .state, now: now)
        service?.tell(.keysChanged(keys))
    }

    private func revoke(_ id: String, now: MediaTimestamp) -> HTTPResponse {
        guard let key = keys.revoke(id: id) else {
            return .refusal(.notFound, name: "unknownKey", "no browser has this id")
        }
        keysChanged(now: now)
        device.tell(text: "\(key.name) is no longer paired")
        return HTTPResponse(.noContent)
    }

    /// - Parameter progress: `nil` for a browser without an attempt.
    private func pairingResponse(_ status: HTTPStatus, _ progress: Pairing.Progress?) -> HTTPResponse {
        .pairing(
            status, progress, press: device.stream.isPublishing ? "doublePress" : "press",
            name: device.files.network.hostName)
    }
}
