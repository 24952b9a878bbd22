import Media

/// The numbers that pair this publisher's calls with the server's answers.
private enum Transaction {
    static let connect = 1.0
    static let releaseStream = 2.0
    static let fcPublish = 3.0
    static let createStream = 4.0
    static let publish = 5.0
}

// From the handshake to the first media.
extension PublishSession {
    mutating func continueHandshake(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ now: MediaTimestamp
    ) throws(PublishError) {
        do {
            outgoing += try handshake.bytesReceived(bytes, from: &offset)
        } catch {
            throw .handshakeFailed(version: error.version)
        }
        guard handshake.isComplete else { return }
        send(.setChunkSize(UInt32(configuration.chunkSize)))
        writer.chunkSize = configuration.chunkSize
        send(Command("connect", transactionID: Transaction.connect, object: .object(connectProperties)))
        wait(for: .connecting, now)
    }

    private var connectProperties: [AMF0Property] {
        var url = configuration.url
        if !authentication.query.isEmpty {
            let query = url.applicationQuery.map { $0.revealed + "&" } ?? ""
            url.applicationQuery = Secret(query + authentication.query)
        }
        var properties = [
            AMF0Property("app", .string(url.applicationWithQuery.revealed)),
            AMF0Property("type", .string("nonprivate")),
            // Some servers accept only publishers that identify themselves like this.
            AMF0Property("flashVer", .string("FMLE/3.0 (compatible; \(configuration.encoderName))")),
            AMF0Property("swfUrl", .string(url.tcURL.revealed)),
            AMF0Property("tcUrl", .string(url.tcURL.revealed)),
        ]
        // Enhanced RTMP v2, "Enhancing NetConnection connect": bit 0 is reconnecting, the only part implemented here. A
        // codec list is only required for codecs beyond the legacy ones.
        if configuration.acceptsReconnectRequest { properties.append(AMF0Property("capsEx", .number(1))) }
        return properties
    }

    private mutating func wait(for state: State, _ now: MediaTimestamp) {
        self.state = state
        deadline = now + configuration.timeouts.answer
    }

    private mutating func connectAnswered(_ now: MediaTimestamp) {
        let name = AMF0Value.string(configuration.url.streamName.revealed)
        announceWindow(configuration.acknowledgementWindow)
        // Legacy calls from Flash that some servers require and others never answer, so the answers are not awaited.
        send(Command("releaseStream", transactionID: Transaction.releaseStream, arguments: [name]))
        send(Command("FCPublish", transactionID: Transaction.fcPublish, arguments: [name]))
        send(Command("createStream", transactionID: Transaction.createStream))
        wait(for: .creatingStream, now)
    }

    private mutating func streamCreated(_ streamID: UInt32, _ now: MediaTimestamp) {
        chunker = Self.chunker(configuration, streamID: streamID)
        send(
            Command(
                "publish", transactionID: Transaction.publish,
                arguments: [.string(configuration.url.streamName.revealed), .string("live")]), streamID: streamID)
        wait(for: .requestingPublish, now)
    }

    private mutating func publishAccepted() {
        state = .publishing
        deadline = nil
        actions.append(.publishingStarted)
    }

    private mutating func announceWindow(_ window: UInt32) {
        // Two sides with tiny windows would acknowledge each other's acknowledgments forever.
        let window = max(window, Self.smallestWindow)
        guard window != announcedWindow else { return }
        announcedWindow = window
        send(.windowAcknowledgementSize(window))
    }
}

// Messages from the server.
extension PublishSession {
    mutating func messageReceived(_ message: Message, _ now: MediaTimestamp) throws(PublishError) {
        switch message.type {
        case .commandAMF0, .commandAMF3:
            let command: Command
            do {
                command = try Command(message)
            } catch {
                throw .invalidCommand(error)
            }
            try commandReceived(command, now)
        default:
            if let control = ControlMessage(message) { controlReceived(control) }
        }
    }

    private mutating func controlReceived(_ control: ControlMessage) {
        switch control {
        case .acknowledgement(let sequenceNumber):
            guard acknowledgements.acknowledgementReceived(sequenceNumber, sent: sentByteCount) else { return }
            actions.append(.acknowledged(byteCount: acknowledgements.acknowledged))
        case .windowAcknowledgementSize(let size): received.window = size
        case .setPeerBandwidth(let size, _):
            // The answer required by section 5.4.5. The smaller window is used, for more frequent acknowledgments.
            announceWindow(min(size, configuration.acknowledgementWindow))
        case .userControl(.pingRequest(let timestamp)):
            guard remainingPingAnswers > 0 else { return }
            remainingPingAnswers -= 1
            send(.userControl(.pingResponse(timestamp: timestamp)))
        // The chunk reader has already applied it. Our own chunk size does not change.
        case .setChunkSize, .abort: break
        case .userControl: break
        }
    }

    private mutating func commandReceived(_ command: Command, _ now: MediaTimestamp) throws(PublishError) {
        switch command.name {
        case "_result": try resultReceived(command, now)
        case "_error": try errorReceived(command)
        case "onStatus": try statusReceived(StatusInformation(command))
        case "close": throw .closedByServer(code: "close")
        // onBWDone, onFCPublish and other calls need no reaction.
        default: break
        }
    }

    private mutating func resultReceived(_ command: Command, _ now: MediaTimestamp) throws(PublishError) {
        switch state {
        case .connecting:
            let status = StatusInformation(command)
            // Not every server repeats the number correctly; the code is just as good.
            guard command.transactionID == Transaction.connect || status.code == "NetConnection.Connect.Success" else {
                return
            }
            guard status.level != "error" else { return try connectRefused(status) }
            connectAnswered(now)
        case .creatingStream where command.transactionID == Transaction.createStream:
            guard let number = command.arguments.first?.numberValue, let streamID = UInt32(exactly: number) else {
                throw .streamNotCreated(description: "the stream's ID is missing")
            }
            streamCreated(streamID, now)
        default: break
        }
    }

    private mutating func errorReceived(_ command: Command) throws(PublishError) {
        let status = StatusInformation(command)
        switch (state, command.transactionID) {
        case (.connecting, _): try connectRefused(status)
        case (.creatingStream, Transaction.createStream):
            throw .streamNotCreated(description: redacted(status.description))
        case (.requestingPublish, Transaction.publish): throw publishError(status)
        // Mostly for releaseStream, whose result does not matter.
        default: break
        }
    }

    private mutating func statusReceived(_ status: StatusInformation) throws(PublishError) {
        switch status.code {
        case "NetStream.Publish.Start":
            if case .requestingPublish = state { publishAccepted() }
        case "NetConnection.Connect.ReconnectRequest":
            guard case .publishing = state, configuration.acceptsReconnectRequest else { return }
            reconnectRequested(tcURL: status.tcURL)
        case "NetConnection.Connect.Closed", "NetConnection.Connect.AppShutdown",
            "NetConnection.Connect.IdleTimeOut", "NetStream.Unpublish.Success":
            throw .closedByServer(code: status.code)
        default:
            guard status.level == "error" || Self.refusals.contains(status.code) else { return }
            switch state {
            case .connecting: try connectRefused(status)
            case .creatingStream, .requestingPublish: throw publishError(status)
            default: throw streamError(status)
            }
        }
    }

    private mutating func reconnectRequested(tcURL: String?) {
        do throws(ReconnectRefusal) {
            actions.append(.reconnectRequested(try configuration.url.reconnectTarget(tcURL: tcURL)))
        } catch {
            guard !hasRefusedReconnect else { return }
            hasRefusedReconnect = true
            actions.append(.reconnectRefused(error))
        }
    }

    /// Codes that mean refusal, even if the server does not mark them as errors.
    private static let refusals: Set<String> = [
        "NetStream.Publish.BadName", "NetStream.Publish.Denied", "NetStream.Publish.Unauthorized",
        "NetStream.Publish.Rejected", "NetStream.Publish.Failed", "NetStream.Failed",
        "NetConnection.Connect.Rejected", "NetConnection.Connect.InvalidApp", "NetConnection.Connect.Failed",
    ]

    /// A refusal, or a request for a password.
    private mutating func connectRefused(_ status: StatusInformation) throws(PublishError) {
        switch authentication.connectRefused(status.description) {
        case .notAsked: throw connectError(status)
        case .refused(.credentialsRefused(let text)): throw .credentialsRefused(description: redacted(text))
        case .refused(let error): throw error
        case .tryAgain:
            end()
            state = .awaitingReopening
            actions.append(.reopenConnection)
        }
    }

    private func connectError(_ status: StatusInformation) -> PublishError {
        let text = redacted(status.description)
        guard status.code == "NetConnection.Connect.InvalidApp" else {
            return .connectRejected(code: redacted(status.code), description: text)
        }
        return .invalidApplication(redacted(configuration.url.shownApplication), description: text)
    }

    private func publishError(_ status: StatusInformation) -> PublishError {
        let text = redacted(status.description)
        guard status.code == "NetStream.Publish.BadName" else {
            return .publishDenied(code: redacted(status.code), description: text)
        }
        return .badName(description: text)
    }

    private func streamError(_ status: StatusInformation) -> PublishError {
        switch status.code {
        case "NetStream.Publish.BadName", "NetStream.Publish.Denied", "NetStream.Publish.Unauthorized",
            "NetStream.Publish.Rejected":
            publishError(status)
        default: .streamFailed(code: redacted(status.code), description: redacted(status.description))
        }
    }

    private func redacted(_ text: String) -> String { configuration.url.redacted(text) }
}
