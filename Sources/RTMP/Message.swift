/// The type of an RTMP message (RTMP 1.0 sections 5.4 and 7.1). Unlisted types are passed through unchanged.
public struct MessageType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let setChunkSize = MessageType(rawValue: 1)
    public static let abort = MessageType(rawValue: 2)
    public static let acknowledgement = MessageType(rawValue: 3)
    public static let userControl = MessageType(rawValue: 4)
    public static let windowAcknowledgementSize = MessageType(rawValue: 5)
    public static let setPeerBandwidth = MessageType(rawValue: 6)
    public static let audio = MessageType(rawValue: 8)
    public static let video = MessageType(rawValue: 9)
    public static let dataAMF3 = MessageType(rawValue: 15)
    public static let commandAMF3 = MessageType(rawValue: 17)
    public static let dataAMF0 = MessageType(rawValue: 18)
    public static let commandAMF0 = MessageType(rawValue: 20)
    public static let aggregate = MessageType(rawValue: 22)
}

/// One complete RTMP message, as transported by the chunk layer (section 6.1).
public struct Message: Equatable, Sendable {
    public var type: MessageType
    /// Milliseconds modulo 2^32.
    public var timestamp: UInt32
    /// The message stream: zero for control messages, otherwise the result of `createStream`.
    public var streamID: UInt32
    public var payload: [UInt8]

    public init(type: MessageType, timestamp: UInt32 = 0, streamID: UInt32 = 0, payload: [UInt8]) {
        self.type = type
        self.timestamp = timestamp
        self.streamID = streamID
        self.payload = payload
    }
}
