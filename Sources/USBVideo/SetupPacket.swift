/// The eight bytes that start a control transfer (USB 2.0, section 9.3).
public struct SetupPacket: Hashable, Sendable {
    public let requestType: UInt8
    public let request: UInt8
    public let value: UInt16
    public let index: UInt16
    public let length: UInt16

    public init(requestType: UInt8, request: UInt8, value: UInt16, index: UInt16, length: UInt16) {
        self.requestType = requestType
        self.request = request
        self.value = value
        self.index = index
        self.length = length
    }

    /// Whether it is a class request to an interface or one of its entities, which the video function answers.
    var isOfClassToInterface: Bool { requestType & 0x7F == 0x21 }
    var isFromDevice: Bool { requestType & 0x80 != 0 }
    var selector: UInt8 { UInt8(value >> 8) }
    /// A unit or terminal; 0 for the interface itself.
    var entity: UInt8 { UInt8(index >> 8) }
    var interface: UInt8 { UInt8(truncatingIfNeeded: index) }
}

/// Class requests (UVC 1.5, table A-8).
enum VideoRequest: UInt8 {
    case setCurrent = 0x01
    case current = 0x81
    case minimum = 0x82
    case maximum = 0x83
    case resolution = 0x84
    case length = 0x85
    case information = 0x86
    case usual = 0x87
}

/// The answer on the control pipe.
public enum ControlAnswer: Hashable, Sendable {
    case send([UInt8])
    /// This many bytes are expected and will be passed to `received`.
    case receive(Int)
    case stall
}

/// Why the last request was stalled (UVC 1.5, section 4.2.1.2).
enum RequestError: UInt8 {
    case none = 0
    case wrongState = 2
    case outOfRange = 4
    case unknownEntity = 5
    case unknownControl = 6
    case unknownRequest = 7
}
