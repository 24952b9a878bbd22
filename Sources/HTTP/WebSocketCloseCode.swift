/// Why a WebSocket ends (RFC 6455 section 7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let normal = Self(rawValue: 1000)
    package static let goingAway = Self(rawValue: 1001)
    package static let protocolError = Self(rawValue: 1002)
    package static let unsupportedData = Self(rawValue: 1003)
    package static let invalidText = Self(rawValue: 1007)
    package static let policyViolation = Self(rawValue: 1008)
    package static let messageTooLong = Self(rawValue: 1009)
    package static let internalError = Self(rawValue: 1011)
    package static let tryAgainLater = Self(rawValue: 1013)

    /// Whether a frame may carry it: the others are reserved, or mean that no frame came.
    var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
