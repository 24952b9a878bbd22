/// The protocol control messages and the user control message (RTMP 1.0 sections 5.4 and 6.2).
public enum ControlMessage: Equatable, Sendable {
    /// The most bytes in a chunk of the sender from now on, 1...2^31-1.
    case setChunkSize(UInt32)
    /// The unfinished message on that chunk stream is abandoned.
    case abort(chunkStreamID: UInt32)
    /// Bytes received so far by the sender of this message, modulo 2^32.
    case acknowledgement(UInt32)
    case userControl(UserControlEvent)
    /// Bytes after which the receiver of this message must acknowledge.
    case windowAcknowledgementSize(UInt32)
    /// Limit type: 0 hard, 1 soft, 2 dynamic.
    case setPeerBandwidth(UInt32, limitType: UInt8)

    /// The control message in `message`; `nil` if it is of another type or too short.
    public init?(_ message: Message) {
        var reader = ByteReader(message.payload)
        if message.type == .userControl {
            guard let event = UserControlEvent(message.payload) else { return nil }
            self = .userControl(event)
            return
        }
        guard let value = reader.readUInt32() else { return nil }
        switch message.type {
        case .setChunkSize: self = .setChunkSize(value)
        case .abort: self = .abort(chunkStreamID: value)
        case .acknowledgement: self = .acknowledgement(value)
        case .windowAcknowledgementSize: self = .windowAcknowledgementSize(value)
        case .setPeerBandwidth: self = .setPeerBandwidth(value, limitType: reader.readUInt8() ?? 2)
        default: return nil
        }
    }

    public var message: Message {
        var payload: [UInt8] = []
        switch self {
        case .setChunkSize(let value), .abort(let value), .acknowledgement(let value),
            .windowAcknowledgementSize(let value):
            payload.appendUInt32(value)
        case .setPeerBandwidth(let value, let limitType):
            payload.appendUInt32(value)
            payload.append(limitType)
        case .userControl(let event): payload = event.payload
        }
        return Message(type: type, payload: payload)
    }

    private var type: MessageType {
        switch self {
        case .setChunkSize: .setChunkSize
        case .abort: .abort
        case .acknowledgement: .acknowledgement
        case .userControl: .userControl
        case .windowAcknowledgementSize: .windowAcknowledgementSize
        case .setPeerBandwidth: .setPeerBandwidth
        }
    }
}

/// The events of the user control message (RTMP 1.0 section 7.1.7).
public enum UserControlEvent: Equatable, Sendable {
    case streamBegin(streamID: UInt32)
    case streamEOF(streamID: UInt32)
    case streamDry(streamID: UInt32)
    case setBufferLength(streamID: UInt32, milliseconds: UInt32)
    case streamIsRecorded(streamID: UInt32)
    case pingRequest(timestamp: UInt32)
    case pingResponse(timestamp: UInt32)
    case other(type: UInt16, [UInt8])

    init?(_ payload: [UInt8]) {
        var reader = ByteReader(payload)
        guard let type = reader.readUInt16() else { return nil }
        guard type <= 7, type != 5 else {
            self = .other(type: type, Array(payload.dropFirst(2)))
            return
        }
        guard let value = reader.readUInt32() else { return nil }
        switch type {
        case 0: self = .streamBegin(streamID: value)
        case 1: self = .streamEOF(streamID: value)
        case 2: self = .streamDry(streamID: value)
        case 3:
            guard let milliseconds = reader.readUInt32() else { return nil }
            self = .setBufferLength(streamID: value, milliseconds: milliseconds)
        case 4: self = .streamIsRecorded(streamID: value)
        case 6: self = .pingRequest(timestamp: value)
        default: self = .pingResponse(timestamp: value)
        }
    }

    var payload: [UInt8] {
        let (type, values): (UInt16, [UInt32]) =
            switch self {
            case .streamBegin(let streamID): (0, [streamID])
            case .streamEOF(let streamID): (1, [streamID])
            case .streamDry(let streamID): (2, [streamID])
            case .setBufferLength(let streamID, let milliseconds): (3, [streamID, milliseconds])
            case .streamIsRecorded(let streamID): (4, [streamID])
            case .pingRequest(let timestamp): (6, [timestamp])
            case .pingResponse(let timestamp): (7, [timestamp])
            case .other(let type, _): (type, [])
            }
        var payload: [UInt8] = []
        payload.appendUInt16(type)
        for value in values { payload.appendUInt32(value) }
        if case .other(_, let bytes) = self { payload += bytes }
        return payload
    }
}
