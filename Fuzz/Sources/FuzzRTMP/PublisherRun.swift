import Media
import RTMP

/// A publisher's state when the input starts.
enum PublisherState: CaseIterable {
    case handshaking
    case connecting
    case creatingStream
    case requestingPublish
    case publishing

    /// Made once: a session is a value, so that every run starts with a copy.
    static let sessions: [PublishSession] = {
        var session = PublishSession(configuration: publishConfiguration)
        _ = session.connectionOpened(now: .zero)
        var sessions = [session]
        for answer in ServerAnswers.all {
            _ = answer.withUnsafeBytes { session.bytesReceived($0, now: .zero) }
            sessions.append(session)
        }
        precondition(session.isPublishing, "the prepared answers do not lead to publishing")
        return sessions
    }()

    private static let publishConfiguration: PublishConfiguration = {
        let url = RTMPURL(
            scheme: .rtmp, host: "example.org", application: "live", streamName: Secret("door?token=\(secret)"),
            credentials: Credentials(user: "me", password: secret))
        return PublishConfiguration(
            url: url, encoderName: "Tallycam", randomBytes: [UInt8](repeating: 7, count: 1528),
            metadata: StreamMetadata(
                video: .init(
                    size: FrameSize(width: 640, height: 480), frameRate: FrameRate(framesPerSecond: 30),
                    bitrate: Bitrate(kilobitsPerSecond: 512)),
                audio: .init(bitrate: Bitrate(kilobitsPerSecond: 64), sampleRate: 44_100, channelCount: 2)),
            acceptsReconnectRequest: true, md5: { [UInt8]($0.prefix(16)) })
    }()

    /// It is also in the dictionary, so that servers repeat it.
    static let secret = "hush-hush-hush"
}

/// A publisher that runs through a script, with checks on the way.
struct PublisherRun {
    private var session: PublishSession
    private var now = MediaTimestamp.zero
    private var hasEnded = false
    /// The server requested a password; the session waits for another connection.
    private var awaitsReopening = false
    private var sentByteCount: UInt64
    private var acknowledged: UInt64 = 0
    /// The session's reactions to the bytes, without what it sent: acknowledgements and answers to pings depend on the
    /// portions, and so does what can have been acknowledged.
    private(set) var events: [PublishSession.Action] = []

    init(_ state: PublisherState, _ script: Script) {
        let index = PublisherState.allCases.firstIndex(of: state) ?? 0
        session = PublisherState.sessions[index]
        sentByteCount = session.sentByteCount
        var run = self
        script.run { bytes in
            run.happened(run.session.bytesReceived(bytes, now: run.now))
        } interruption: { event in
            run.interrupted(event)
        }
        self = run
    }

    private mutating func interrupted(_ event: Script.Interruption) {
        switch event {
        case .timePasses:
            now += .seconds(6)
            happened(session.timePassed(now: now))
        case .stop:
            let actions = session.stopRequested()
            precondition(hasEnded || actions.last == .stopped, "stopping has no end")
            happened(actions)
        case .connectionCloses: happened(session.connectionClosed())
        case .connectionOpens:
            hasEnded = false
            awaitsReopening = false
            sentByteCount = 0
            acknowledged = 0
            happened(session.connectionOpened(now: now))
        case .mediaIsSent:
            guard session.isPublishing else { return }
            let packet = EncodedPacket(kind: .video(isKeyframe: true), decodeTime: now, payload: Self.frame)
            sentByteCount += UInt64(session.chunk(packet).byteCount)
        }
    }

    private static let frame = [UInt8](repeating: 9, count: 70_000)

    private mutating func happened(_ actions: [PublishSession.Action]) {
        precondition(!hasEnded || actions.isEmpty, "something happens after the end")
        for action in actions {
            precondition(!hasEnded, "something follows the end")
            switch action {
            case .send(let bytes): sentByteCount += UInt64(bytes.count)
            case .publishingStarted: precondition(session.sentByteCount > 0)
            case .acknowledged(let byteCount):
                precondition(byteCount > acknowledged && byteCount <= sentByteCount, "acknowledged out of order")
                acknowledged = byteCount
                continue
            case .reopenConnection: awaitsReopening = true
            case .reconnectRequested(let url): precondition(isPrintable("\(url)") && !"\(url)".isEmpty)
            case .reconnectRefused(let refusal): precondition(isPrintable("\(refusal)"))
            case .failed(let error):
                check(error)
                hasEnded = true
            case .stopped: hasEnded = true
            }
            if case .send = action { continue }
            events.append(action)
        }
        precondition(session.sentByteCount == sentByteCount, "bytes are counted wrong")
        if hasEnded || awaitsReopening {
            precondition(session.nextDeadline == nil && !session.isPublishing, "the end is not the end")
        }
    }

    private func check(_ error: PublishError) {
        let text = "\(error)"
        precondition(!text.contains(PublisherState.secret), "a secret is reported")
        precondition(text.utf8.count < 2048, "an error is reported at length")
        precondition(isPrintable(text), "a control character is reported")
        precondition((-1015 ... -1004).contains(error.code))
    }

    private func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
