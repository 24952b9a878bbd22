import Bitstream

// Messages from the publisher and the answers to them.
extension ReceiveSession {
    mutating func messageReceived(_ message: Message) throws(ReceiveError) {
        switch message.type {
        case .audio: mediaReceived(.audio, message)
        case .video: mediaReceived(.video, message)
        case .dataAMF0: dataReceived(message.payload[...], timestamp: message.timestamp)
        // AMF3 data contains AMF0 after a marker byte.
        case .dataAMF3: dataReceived(message.payload.dropFirst(), timestamp: message.timestamp)
        case .aggregate: aggregateReceived(message)
        case .commandAMF0, .commandAMF3:
            let command: Command
            do {
                command = try Command(message)
            } catch {
                throw .invalidCommand(error)
            }
            commandReceived(command, streamID: message.streamID)
        default:
            if let control = ControlMessage(message) { controlReceived(control) }
        }
    }

    private mutating func controlReceived(_ control: ControlMessage) {
        switch control {
        case .windowAcknowledgementSize(let size):
            if configuration.acknowledgementWindow > 0 { received.window = size }
        case .userControl(.pingRequest(let timestamp)):
            guard remainingPingAnswers > 0 else { return }
            remainingPingAnswers -= 1
            send(.userControl(.pingResponse(timestamp: timestamp)))
        default: break
        }
    }

    private mutating func commandReceived(_ command: Command, streamID: UInt32) {
        switch command.name {
        case "connect": connectReceived(command)
        case "createStream":
            lastStreamID &+= 1
            answer(command, .null, .number(Double(lastStreamID)))
        case "publish": publishReceived(command, streamID: streamID)
        case "play", "play2": playReceived(streamID: streamID)
        case "FCUnpublish", "closeStream": streamEnded()
        case "deleteStream":
            guard case .publishing(let current) = state else { return }
            let number = command.arguments.first?.numberValue
            if number == nil || number == Double(current) { streamEnded() }
        case "releaseStream", "FCPublish", "_checkbw": answer(command, .null, .undefined)
        // Answers to our own calls, and calls that no publisher needs.
        default: break
        }
    }

    private mutating func answer(_ command: Command, _ object: AMF0Value, _ value: AMF0Value) {
        guard command.transactionID != 0 else { return }
        send(Command("_result", transactionID: command.transactionID, object: object, arguments: [value]))
    }

    private mutating func connectReceived(_ command: Command) {
        application = command.object["app"]?.stringValue ?? ""
        send(.windowAcknowledgementSize(configuration.announcedWindow))
        send(.setPeerBandwidth(configuration.announcedWindow, limitType: 2))
        send(.setChunkSize(UInt32(configuration.chunkSize)))
        writer.chunkSize = configuration.chunkSize
        switch configuration.connectAnswer {
        case .silence: break
        case .refuse(let code, let description):
            let information = Self.status("error", code, description)
            send(Command("_error", transactionID: command.transactionID, arguments: [information]))
            actions.append(.refused)
            state = .ended
        case .accept:
            let properties = AMF0Value.object([
                AMF0Property("fmsVer", .string("FMS/3,0,1,123")), AMF0Property("capabilities", .number(31)),
            ])
            var information = Self.status("status", "NetConnection.Connect.Success", "Connection succeeded.")
            if case .object(let fields) = information {
                information = .object(fields + [AMF0Property("objectEncoding", .number(0))])
            }
            answer(command, properties, information)
        }
    }

    private static func status(_ level: String, _ code: String, _ description: String) -> AMF0Value {
        .object([
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string(description)),
        ])
    }

    private mutating func publishReceived(_ command: Command, streamID: UInt32) {
        let name = command.arguments.first?.stringValue ?? ""
        if case .publishing = state {
            sendStatus(
                level: "error", code: "NetStream.Publish.BadName", description: "Already publishing.",
                streamID: streamID)
            return
        }
        switch configuration.publishAnswer {
        case .silence: break
        case .refuse(let code, let description):
            sendStatus(level: "error", code: code, description: description, streamID: streamID)
            actions.append(.refused)
            state = .ended
        case .accept where takenStreams.contains(StreamName(application: application, name: name)):
            sendStatus(
                level: "error", code: "NetStream.Publish.BadName",
                description: "Another connection publishes this stream.", streamID: streamID)
            actions += [.rejected(.nameInUse(application: application)), .refused]
            state = .ended
        case .accept:
            send(.userControl(.streamBegin(streamID: streamID)))
            sendStatus(
                level: "status", code: "NetStream.Publish.Start", description: "Publishing.", streamID: streamID)
            state = .publishing(streamID: streamID)
            actions.append(.publishStarted(application: application, streamName: name))
        }
    }

    /// Without an answer, players would wait forever.
    private mutating func playReceived(streamID: UInt32) {
        sendStatus(
            level: "error", code: "NetStream.Play.StreamNotFound",
            description: "This server only receives streams.", streamID: streamID)
        if case .publishing = state { return }
        actions += [.rejected(.player(application: application)), .refused]
        state = .ended
    }

    private mutating func streamEnded() {
        guard case .publishing(let streamID) = state else { return }
        sendStatus(
            level: "status", code: "NetStream.Unpublish.Success", description: "Unpublished.", streamID: streamID)
        state = .open
        actions.append(.ended)
    }
}

// Media and data.
extension ReceiveSession {
    private mutating func mediaReceived(_ kind: FLVTag.Kind, _ message: Message) {
        guard case .publishing = state else { return }
        actions.append(.media(FLVTag(kind: kind, timestamp: message.timestamp, body: message.payload)))
    }

    /// `@setDataFrame` addresses the server; the actual script data follows it.
    private mutating func dataReceived(_ payload: ArraySlice<UInt8>, timestamp: UInt32) {
        guard case .publishing = state else { return }
        var decoder = AMF0Decoder(Array(payload))
        guard var name = (try? decoder.decodeValue())?.stringValue else { return }
        var body = payload
        if name == "@setDataFrame" {
            body = payload.dropFirst(decoder.position)
            guard let inner = (try? decoder.decodeValue())?.stringValue else { return }
            name = inner
        }
        if name == "onMetaData", let value = try? decoder.decodeValue(), let properties = value.properties {
            actions.append(.metadata(properties))
        }
        actions.append(.media(FLVTag(kind: .script, timestamp: timestamp, body: Array(body))))
    }

    /// Several messages in one, each in the form of an FLV tag (RTMP 1.0 section 7.1.6). Their timestamps are shifted
    /// so that the first one equals the aggregate's.
    private mutating func aggregateReceived(_ message: Message) {
        var reader = ByteReader(message.payload)
        var shift: UInt32?
        while let type = reader.readUInt8(), let length = reader.readUInt24(), let low = reader.readUInt24(),
            let high = reader.readUInt8(), reader.readUInt24() != nil, let body = reader.readBytes(Int(length))
        {
            let timestamp = UInt32(high) << 24 | low
            let offset = shift ?? message.timestamp &- timestamp
            shift = offset
            switch MessageType(rawValue: type) {
            case .audio, .video:
                guard let kind = FLVTag.Kind(rawValue: type) else { break }
                mediaReceived(
                    kind,
                    Message(type: message.type, timestamp: timestamp &+ offset, payload: Array(body)))
            case .dataAMF0: dataReceived(body, timestamp: timestamp &+ offset)
            default: break
            }
            // The size of the part is repeated.
            guard reader.readUInt32() != nil else { return }
        }
    }
}
