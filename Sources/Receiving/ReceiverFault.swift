import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// A way to misbehave, requested with `--fault`, for testing publishers. Not for production use.
public enum ReceiverFault: Sendable {
    /// What is wrong with the answer to the handshake.
    public enum Handshake: Hashable, Sendable {
        case missing
        /// Bytes that are not a handshake.
        case garbage
        /// The right bytes: one first, then a few at a time, over about a second.
        case dribbled
    }

    /// What happens to an accepted stream.
    public enum MidStream: Hashable, Sendable {
        /// Nothing is read for this long.
        case zeroWindow(Duration)
        case close
        case reset
        case garbage
        case streamError
        case reconnectRequest(tcURL: String)
        case pingFlood
    }

    /// Connections wait in the kernel for this long.
    case noAccept(Duration)
    case handshake(Handshake)
    case connectAnswer(ReceiveConfiguration.Answer)
    case publishAnswer(ReceiveConfiguration.Answer)
    case chunkSize(Int)
    case tinyWindow
    case noAcknowledgements
    /// - Parameter after: time since the stream was accepted.
    case midStream(MidStream, after: Duration)
    case everyConnection
}

extension ReceiverFault {
    /// The text of `--help` below the options.
    public static let helpText = """

        Faults, for tests of publishers only. They hit the first connection.
          no-accept=SECONDS           accept no connection for SECONDS
          no-handshake                leave the handshake unanswered
          garbage-handshake           answer the handshake with other bytes
          dribbled-handshake          answer the handshake in small portions over a second
          connect-rejected            refuse the RTMP connection
          unknown-application         refuse the application
          connect-unanswered          leave connect unanswered
          bad-name                    refuse the stream name
          publish-unanswered          leave publish unanswered
          chunk-size=N                send chunks of N bytes, 1 to 16777215
          tiny-window                 announce windows of one byte
          no-acknowledgements         acknowledge nothing
          zero-window=SECONDS         read nothing for SECONDS, from 1 s on
          close-after=SECONDS         close the connection after SECONDS
          reset-after=SECONDS         reset the connection after SECONDS
          garbage-after=SECONDS       send data that is not RTMP after SECONDS
          error-after=SECONDS         report a fault of the stream after SECONDS
          reconnect-to=HOST:PORT      ask to move to another server after 1 s; a text with a slash is sent unchanged
          ping-flood                  send 20000 pings a second, from 1 s on
          every-connection            let the other faults hit every connection

        """

    /// Parses `NAME` or `NAME=VALUE`.
    public init(parsing text: String) throws(StreamFailure) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        if parts.count > 1 {
            self = try Self.fault(name, value: String(parts[1]))
        } else if let fault = Self.plain[name] {
            self = fault
        } else {
            throw StreamFailure(
                .settings, "--fault: \"\(name)\" is unknown or needs a value; see tallycam receive --help")
        }
    }

    private static let plain: [String: ReceiverFault] = [
        "no-handshake": .handshake(.missing),
        "garbage-handshake": .handshake(.garbage),
        "dribbled-handshake": .handshake(.dribbled),
        "connect-rejected": .connectAnswer(
            .refuse(code: "NetConnection.Connect.Rejected", description: "Not today.")),
        "unknown-application": .connectAnswer(
            .refuse(code: "NetConnection.Connect.InvalidApp", description: "No such application.")),
        "connect-unanswered": .connectAnswer(.silence),
        "bad-name": .publishAnswer(.refuse(code: "NetStream.Publish.BadName", description: "Already publishing.")),
        "publish-unanswered": .publishAnswer(.silence),
        "tiny-window": .tinyWindow,
        "no-acknowledgements": .noAcknowledgements,
        "ping-flood": .midStream(.pingFlood, after: .seconds(1)),
        "every-connection": .everyConnection,
    ]

    private static func fault(_ name: String, value: String) throws(StreamFailure) -> ReceiverFault {
        switch name {
        case "no-accept": return .noAccept(try seconds(name, value))
        case "chunk-size":
            guard let count = Int(value), (1...0xFF_FFFF).contains(count) else { break }
            return .chunkSize(count)
        case "zero-window": return .midStream(.zeroWindow(try seconds(name, value)), after: .seconds(1))
        case "close-after": return .midStream(.close, after: try seconds(name, value))
        case "reset-after": return .midStream(.reset, after: try seconds(name, value))
        case "garbage-after": return .midStream(.garbage, after: try seconds(name, value))
        case "error-after": return .midStream(.streamError, after: try seconds(name, value))
        case "reconnect-to":
            if value.contains("/") { return .midStream(.reconnectRequest(tcURL: value), after: .seconds(1)) }
            guard let endpoint = try? Endpoint(parsing: value) else { break }
            return .midStream(.reconnectRequest(tcURL: "rtmp://\(endpoint)/live"), after: .seconds(1))
        default: break
        }
        throw StreamFailure(
            .settings, "--fault: \"\(name)=\(value)\" is unknown or has a wrong value; see tallycam receive --help")
    }

    private static func seconds(_ name: String, _ text: String) throws(StreamFailure) -> Duration {
        guard let seconds = Double(text), seconds >= 0, seconds <= 86_400 else {
            throw StreamFailure(.settings, "--fault: \(name) must be 0 to 86400 seconds, not \"\(text)\"")
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }
}

/// All faults of a receiver.
public struct ReceiverFaults: Sendable {
    private let faults: [ReceiverFault]
    private let hitsEveryConnection: Bool

    public init(_ faults: [ReceiverFault] = []) {
        self.faults = faults
        hitsEveryConnection = faults.contains { if case .everyConnection = $0 { true } else { false } }
    }

    /// How long no connection is accepted.
    var acceptDelay: Duration? {
        for case .noAccept(let duration) in faults { return duration }
        return nil
    }

    /// The faults of a connection.
    /// - Parameter number: counted from 1, in order of arrival.
    func hitting(connection number: Int) -> ConnectionFaults {
        ConnectionFaults(number == 1 || hitsEveryConnection ? faults : [])
    }
}

/// The faults of one connection, and when those of a running stream are due.
struct ConnectionFaults: Sendable {
    private let faults: [ReceiverFault]
    private var pending: [(time: MediaTimestamp, fault: ReceiverFault.MidStream)] = []

    public init(_ faults: [ReceiverFault] = []) { self.faults = faults }

    var isEmpty: Bool { faults.isEmpty }

    var handshake: ReceiverFault.Handshake? {
        for case .handshake(let fault) in faults { return fault }
        return nil
    }

    /// Whether reading will stop at some point.
    var closesWindow: Bool {
        faults.contains { if case .midStream(.zeroWindow, _) = $0 { true } else { false } }
    }

    func apply(to configuration: inout ReceiveConfiguration) {
        for fault in faults {
            switch fault {
            case .connectAnswer(let answer): configuration.connectAnswer = answer
            case .publishAnswer(let answer): configuration.publishAnswer = answer
            case .chunkSize(let byteCount): configuration.chunkSize = byteCount
            case .tinyWindow: configuration.announcedWindow = 1
            case .noAcknowledgements: configuration.acknowledgementWindow = 0
            case .noAccept, .handshake, .midStream, .everyConnection: break
            }
        }
    }

    mutating func publishingStarted(now: MediaTimestamp) {
        pending = faults.compactMap {
            if case .midStream(let fault, let after) = $0 { (now + after, fault) } else { nil }
        }
    }

    var nextTime: MediaTimestamp? { pending.map(\.time).min() }

    /// The faults that are due now.
    mutating func takeDue(now: MediaTimestamp) -> [ReceiverFault.MidStream] {
        guard let nextTime, nextTime <= now else { return [] }
        let due = pending.filter { $0.time <= now }
        pending.removeAll { $0.time <= now }
        if due.contains(where: { $0.fault == .pingFlood }) { pending.append((now + .milliseconds(10), .pingFlood)) }
        return due.map(\.fault)
    }
}
