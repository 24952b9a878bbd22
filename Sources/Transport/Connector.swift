import LinuxIO
import Media

/// The time limit of each step to a connection.
public struct ConnectionTimeouts: Hashable, Sendable {
    public var lookup: Duration
    /// From the first attempt on, for all addresses together.
    public var connect: Duration
    public var tlsHandshake: Duration
    /// When to start a second attempt at an address that has not answered, in parallel with the first. TCP itself retransmits
    /// after one second, then at growing intervals; `nil` relies on that.
    public var repetition: Duration?

    public init(
        lookup: Duration = .seconds(5), connect: Duration = .seconds(5), tlsHandshake: Duration = .seconds(5),
        repetition: Duration? = nil
    ) {
        self.repetition = repetition
        self.lookup = lookup
        self.connect = connect
        self.tlsHandshake = tlsHandshake
    }
}

/// Whether the stream is encrypted.
public enum TransportSecurity {
    case none
    case tls(TLSContext)
}

/// Makes one connection: looks the name up, tries its addresses, does the TLS handshake. Never blocks: the caller polls
/// `pollEntries` until `deadline` and calls `advance`. Dropping the object ends everything at once. Used from one thread.
public final class Connector {
    private enum Phase {
        case connecting
        case tlsHandshake(TLSConnection)
        case finished
    }

    private enum Waited {
        case progress, cancellation
    }

    private let endpoint: Endpoint
    private let security: TransportSecurity
    private let timeouts: ConnectionTimeouts
    private let settings: TCPSettings
    private var phase = Phase.connecting
    /// Time limit of the name lookup.
    private let lookupDeadline: MediaTimestamp
    /// Time limit of connecting, then of the TLS handshake; `nil` before the first attempt.
    private var stepDeadline: MediaTimestamp?

    private var lookup: NameLookup?
    private var lookupFailures: [NameLookupFailure] = []
    private var order: HappyEyeballs<SocketAddress>
    private var attempts: [ConnectionAttempt] = []
    private var failedAttempts: [TransportError.FailedAttempt] = []

    /// The addresses found so far; numeric for a host that is an address.
    public private(set) var addresses: [String] = []
    private var offer = TLSOffer.latest
    /// The address that answered.
    private var address: SocketAddress?

    public init(
        to endpoint: Endpoint, security: TransportSecurity = .none, timeouts: ConnectionTimeouts = ConnectionTimeouts(),
        settings: TCPSettings = TCPSettings(), now: MediaTimestamp
    ) throws(TransportError) {
        self.endpoint = endpoint
        self.security = security
        self.timeouts = timeouts
        self.settings = settings
        lookupDeadline = now + timeouts.lookup
        if case .tls(let context) = security, context.tls12Servers.contains(endpoint) { offer = .tls12 }
        if let address = SocketAddress(numericHost: endpoint.host, port: endpoint.port) {
            order = HappyEyeballs(lookingUp: [address.family])
            addresses = [address.host]
            try perform(order.lookupAnswered(address.family, with: [address], now: now), now: now)
        } else {
            order = HappyEyeballs()
            lookup = try NameLookup(endpoint, now: now)
        }
    }

    /// The descriptors to wait for before the next `advance`.
    public var pollEntries: [PollEntry] {
        switch phase {
        case .connecting:
            (lookup.map { [PollEntry($0.fileDescriptor)] } ?? [])
                + attempts.map { PollEntry($0.fileDescriptor, .writable) }
        case .tlsHandshake(let connection):
            [PollEntry(connection.fileDescriptor, connection.pollEvents(hasBytesToWrite: false))]
        case .finished: []
        }
    }

    /// When to call `advance` even if nothing became ready.
    public var deadline: MediaTimestamp {
        var times = [stepDeadline]
        if case .connecting = phase {
            times += [order.nextTime, lookup == nil ? nil : lookupDeadline, lookup?.nextTime]
            if let repetition = timeouts.repetition {
                times += attempts.map { $0.isRepeated ? nil : $0.start + repetition }
            }
        }
        return times.compactMap { $0 }.min() ?? lookupDeadline
    }

    /// Does everything that is possible without blocking.
    /// - Returns: the connected stream, once; `nil` until then.
    public func advance(now: MediaTimestamp) throws(TransportError) -> (any ByteStream)? {
        do throws(TransportError) {
            switch phase {
            case .connecting: return try advanceConnecting(now: now)
            case .tlsHandshake(let connection): return try advanceHandshake(connection, now: now)
            case .finished: return nil
            }
        } catch {
            finish()
            throw error
        }
    }

    /// Connects and waits for the result.
    /// - Parameter cancellation: a descriptor that ends the call with `canceled` when it becomes readable. Nothing is read
    ///   from it.
    public static func connect(
        to endpoint: Endpoint, security: TransportSecurity = .none, timeouts: ConnectionTimeouts = ConnectionTimeouts(),
        settings: TCPSettings = TCPSettings(), cancellation: Int32? = nil
    ) throws(TransportError) -> any ByteStream {
        let connector = try Connector(
            to: endpoint, security: security, timeouts: timeouts, settings: settings, now: MonotonicClock.now())
        while true {
            if let stream = try connector.advance(now: MonotonicClock.now()) { return stream }
            var waits: PollSet<Waited> = [.cancellation: cancellation ?? -1]
            waits.add(.progress, connector.pollEntries)
            do {
                try waits.wait(until: connector.deadline)
            } catch {
                throw .socketFailed(error)
            }
            if waits.ready(.cancellation).contains(.readable) { throw .canceled }
        }
    }

    private func finish() {
        phase = .finished
        lookup = nil
        attempts = []
    }
}

extension Connector {
    private func advanceConnecting(now: MediaTimestamp) throws(TransportError) -> (any ByteStream)? {
        for answer in lookup?.takeAnswers() ?? [] { try take(answer, now: now) }
        lookup?.timePassed(now: now)
        for attempt in attempts {
            switch attempt.outcome() {
            case .pending: continue
            case .connected:
                guard let connection = try attempt.takeConnection(settings: settings) else { continue }
                address = attempt.address
                return try connected(connection, now: now)
            case .failed(let error):
                guard attempts.contains(where: { $0 === attempt }) else { continue }
                try perform(attemptFailed(attempt.address, error, now: now), now: now)
            }
        }
        try repeatUnanswered(now: now)
        if lookup != nil, now >= lookupDeadline {
            lookup = nil
            try perform(order.lookupTimeEnded(now: now), now: now)
        }
        if let stepDeadline, now >= stepDeadline { throw connectTimeFailure }
        try perform(order.timePassed(now: now), now: now)
        return nil
    }

    /// Earlier attempts stay: on a slow path, their answer may come first.
    private func repeatUnanswered(now: MediaTimestamp) throws(TransportError) {
        guard let repetition = timeouts.repetition else { return }
        for attempt in attempts where !attempt.isRepeated && now - attempt.start >= repetition {
            attempt.isRepeated = true
            do {
                attempts.append(try ConnectionAttempt(to: attempt.address, settings: settings, now: now))
            } catch {
                try perform(attemptFailed(attempt.address, error, now: now), now: now)
            }
        }
    }

    private func take(_ answer: NameLookup.Answer, now: MediaTimestamp) throws(TransportError) {
        var addresses: [SocketAddress] = []
        switch answer.result {
        case .success(let found): addresses = found
        case .failure(let failure): lookupFailures.append(failure)
        }
        self.addresses += addresses.map(\.host)
        try perform(order.lookupAnswered(answer.family, with: addresses, now: now), now: now)
    }

    private func attemptFailed(
        _ address: SocketAddress, _ error: SystemCallError, now: MediaTimestamp
    ) -> [HappyEyeballs<SocketAddress>.Action] {
        attempts.removeAll { $0.address.description == address.description }
        failedAttempts.append(.init(address: address.description, reason: error.reason))
        return order.attemptFailed(now: now)
    }

    private func perform(
        _ actions: [HappyEyeballs<SocketAddress>.Action], now: MediaTimestamp
    ) throws(TransportError) {
        var actions = actions
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .giveUp: throw failure
            case .connect(let address):
                stepDeadline = stepDeadline ?? now + timeouts.connect
                do {
                    attempts.append(try ConnectionAttempt(to: address, settings: settings, now: now))
                } catch {
                    actions += attemptFailed(address, error, now: now)
                }
            }
        }
    }

    /// Why the connection failed, once every possibility has failed.
    private var failure: TransportError {
        if !failedAttempts.isEmpty { return .connectFailed(endpoint, attempts: failedAttempts) }
        // That a name has no address of one family means nothing while the query for the other is open.
        guard let failure = lookupFailures.last(where: { !$0.isAnswer }) ?? lookupFailures.last else {
            return .timedOut(peer: endpoint.description, .lookup)
        }
        return failure.error(for: endpoint)
    }

    private var connectTimeFailure: TransportError {
        if failedAttempts.isEmpty { return .timedOut(peer: endpoint.description, .connect) }
        let silent = attempts.filter { !$0.isRepeated }.map {
            TransportError.FailedAttempt(address: "\($0.address)", reason: "no answer")
        }
        return .connectFailed(endpoint, attempts: failedAttempts + silent)
    }

    private func connected(_ connection: TCPConnection, now: MediaTimestamp) throws(TransportError) -> (any ByteStream)?
    {
        finish()
        switch security {
        case .none: return connection
        case .tls(let context):
            let secured = try TLSConnection(over: connection, to: endpoint, context: context, offer: offer)
            phase = .tlsHandshake(secured)
            stepDeadline = now + timeouts.tlsHandshake
            return try advanceHandshake(secured, now: now)
        }
    }

    private func advanceHandshake(
        _ connection: TLSConnection, now: MediaTimestamp
    ) throws(TransportError) -> (any ByteStream)? {
        do throws(TransportError) {
            if try connection.advanceHandshake() {
                phase = .finished
                noteOffer(connection)
                return connection
            }
        } catch {
            try handshakeFailed(connection, error, now: now)
            return nil
        }
        guard let stepDeadline, now < stepDeadline else { throw .timedOut(peer: endpoint.description, .tlsHandshake) }
        return nil
    }
}

// For servers that the library fails with unless it offers less (docs/explain/decisions/0015-a-library-that-changed.md).
extension Connector {
    private func noteOffer(_ connection: TLSConnection) {
        guard offer == .tls12, case .tls(let context) = security, context.tls12Servers.insert(endpoint) else { return }
        connection.fallbackReason = TLSOffer.fallbackReason(endpoint)
    }

    /// Starts again with another offer, if that is the remedy. No other failure triggers this: an attacker who wants weaker
    /// security could forge an alert, a reset or a bad certificate.
    private func handshakeFailed(
        _ connection: TLSConnection, _ error: TransportError, now: MediaTimestamp
    ) throws(TransportError) {
        guard case .tlsFailed(_, let failure) = error, case .tls(let context) = security else { throw error }
        if failure == .downgraded { context.tls12Servers.remove(endpoint) }
        guard failure == .signatureRejected, offer == .latest, let address else { throw error }
        connection.close()
        offer = .tls12
        phase = .connecting
        stepDeadline = nil
        order = HappyEyeballs(lookingUp: [address.family])
        try perform(order.lookupAnswered(address.family, with: [address], now: now), now: now)
    }
}
